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
    .reg .b32 %line, %t, %v, %word;
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
    // The claim: the launch's number, or a graph's number and the kernel's.
    shr.u64 %old, %id, 24;
    cvt.u32.u64 %word, %old;
    setp.ne.u32 %p, %word, 0;
    @%p bra has_word;
    cvt.u32.u64 %word, %id;
    and.b32 %word, %word, 0xffffff;
    mad.lo.u32 %word, %word, 0x9e3779b9, %v;
    max.u32 %word, %word, 1;
has_word:
    or.b64 %id, %id, %g;
    atom.relaxed.sys.exch.b32 %v, [%log+4], %word;
    setp.eq.u32 %p, %v, %word;
    @%p bra end;
    add.u64 %r, %log, 24;
    add.u64 %end, %log, 3512;
again:
    atom.acq_rel.sys.cas.b32 %v, [%r+352], 0, %word;
    setp.eq.u32 %p, %v, 0;
    @%p bra claimed;
    setp.eq.u32 %p, %v, %word;
    @%p bra end;
    add.u64 %r, %r, 872;
    setp.ne.u64 %p, %r, %end;
    @%p bra again;
    add.u64 %end, %log, 4024;
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
    st.u64 [%r], %id;
    st.u32 [%r+32], 1;      // block.x
    st.u32 [%r+44], %t;     // thread.x
    mov.u32 %v, %nctaid.x;
    st.u32 [%r+56], %v;
    mov.u32 %v, %ntid.x;
    st.u32 [%r+68], %v;
    st.u32 [%r+80], %line;
    st.u32 [%r+84], 5;      // column
    st.u32 [%r+88], 4;      // \"k.rs\"
    st.u32 [%r+92], 4;      // \"oops\"
    st.u32 [%r+96], 0x73722e6b;
    st.u32 [%r+360], 0x73706f6f;
    fence.acq_rel.sys;
    st.volatile.u32 [%r+8], 1;
    fence.acq_rel.sys;
end:
    ret;
}}
"
    )
}
