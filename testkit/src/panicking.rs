//! Kernels in PTX by hand that panic.

/// An entry that panics in every thread of block 1 whose number is odd, as kernels of the device library do: with the record of a launch whose
/// log and id are its last two parameters, at the line that `load_line` puts into `%line`, unless that is 0. The message is `oops`, the file
/// `k.rs`, the column 5.
pub fn panicking_entry(name: &str, parameters: &str, load_line: &str) -> String {
    format!(
        "
.visible .entry {name}({parameters}, .param .u64 log, .param .u64 launch)
{{
    .reg .pred %p;
    .reg .b32 %line, %t, %v;
    .reg .b64 %a, %log, %id, %g, %r, %end, %old;
    {load_line}
    setp.eq.u32 %p, %line, 0;
    @%p bra end;
    mov.u32 %v, %ctaid.x;
    setp.ne.u32 %p, %v, 1;
    @%p bra end;
    mov.u32 %t, %tid.x;
    and.b32 %v, %t, 1;
    setp.eq.u32 %p, %v, 0;
    @%p bra end;
    ld.param.u64 %log, [log];
    setp.eq.u64 %p, %log, 0;
    @%p bra end;
    ld.volatile.u32 %v, [%log];
    cvt.u64.u32 %g, %v;
    shl.b64 %g, %g, 24;
    ld.param.u64 %id, [launch];
    or.b64 %id, %id, %g;
    atom.relaxed.sys.exch.b64 %old, [%log+3928], %id;
    setp.eq.u64 %p, %old, %id;
    @%p bra end;
    add.u64 %r, %log, 24;
    add.u64 %end, %log, 3416;
again:
    atom.acq_rel.sys.cas.b64 %old, [%r], 0, %id;
    setp.eq.u64 %p, %old, 0;
    @%p bra claimed;
    setp.eq.u64 %p, %old, %id;
    @%p bra end;
    add.u64 %r, %r, 848;
    setp.ne.u64 %p, %r, %end;
    @%p bra again;
    add.u64 %end, %log, 3928;
note:
    atom.acq_rel.sys.cas.b64 %old, [%r], 0, %id;
    setp.eq.u64 %p, %old, 0;
    @%p bra noted;
    setp.eq.u64 %p, %old, %id;
    @%p bra noted;
    add.u64 %r, %r, 8;
    setp.ne.u64 %p, %r, %end;
    @%p bra note;
    atom.acq_rel.sys.cas.b64 %old, [%log+8], 0, %id;
    red.relaxed.sys.max.u64 [%log+16], %id;
noted:
    fence.acq_rel.sys;
    bra end;
claimed:
    st.u32 [%r+16], 1;      // block.x
    st.u32 [%r+28], %t;     // thread.x
    mov.u32 %v, %nctaid.x;
    st.u32 [%r+40], %v;
    mov.u32 %v, %ntid.x;
    st.u32 [%r+52], %v;
    st.u32 [%r+64], %line;
    st.u32 [%r+68], 5;      // column
    st.u32 [%r+72], 4;      // \"k.rs\"
    st.u32 [%r+76], 4;      // \"oops\"
    st.u32 [%r+80], 0x73722e6b;
    st.u32 [%r+336], 0x73706f6f;
    fence.acq_rel.sys;
    st.volatile.u32 [%r+8], 1;
    fence.acq_rel.sys;
end:
    ret;
}}
"
    )
}
