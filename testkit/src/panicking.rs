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
    .reg .b32 %line, %t, %v, %g, %word, %number, %kernel, %index;
    .reg .b64 %a, %log, %id, %r;
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
    ld.volatile.u32 %g, [%log];
    ld.param.u64 %id, [launch];
    // The claim: the launch's number, or a graph's number and the kernel's.
    shr.u64 %a, %id, 24;
    cvt.u32.u64 %number, %a;
    mov.u32 %word, %number;
    cvt.u32.u64 %kernel, %id;
    and.b32 %kernel, %kernel, 0xffffff;
    setp.ne.u32 %p, %number, 0;
    @%p bra has_word;
    mad.lo.u32 %word, %kernel, 0x9e3779b9, %g;
    max.u32 %word, %word, 1;
    max.u32 %number, %g, 1;
has_word:
    atom.relaxed.sys.exch.b32 %v, [%log+4], %word;
    setp.eq.u32 %p, %v, %word;
    @%p bra end;
    mov.u32 %index, 0;
again:
    mad.wide.u32 %r, %index, 4, %log;
    atom.acq_rel.sys.cas.b32 %v, [%r+8], 0, %word;
    setp.eq.u32 %p, %v, 0;
    @%p bra claimed;
    setp.eq.u32 %p, %v, %word;
    @%p bra end;
    add.u32 %index, %index, 1;
    setp.ne.u32 %p, %index, 64;
    @%p bra again;
    st.u32 [%log+272], %kernel;
    red.relaxed.sys.max.u32 [%log+268], %number;
    not.b32 %number, %number;
    red.relaxed.sys.max.u32 [%log+264], %number;
    fence.acq_rel.sys;
    bra end;
claimed:
    mad.wide.u32 %r, %index, 88, %log;
    add.u64 %r, %r, 280;
    st.u64 [%r], %id;
    st.u32 [%r+32], 1;      // block.x
    st.u32 [%r+44], %t;     // thread.x
    mov.u32 %v, %nctaid.x;
    st.u32 [%r+56], %v;
    mov.u32 %v, %ntid.x;
    st.u32 [%r+68], %v;
    st.u32 [%r+80], %g;
    mov.u32 %index, 1;
    add.u64 %a, %log, 5912;
free_text:
    atom.acq_rel.sys.cas.b32 %v, [%a], 0, 1;
    setp.eq.u32 %p, %v, 0;
    @%p bra has_text;
    add.u64 %a, %a, 788;
    add.u32 %index, %index, 1;
    setp.ne.u32 %p, %index, 5;
    @%p bra free_text;
    bra complete;
has_text:
    st.u32 [%r+84], %index;
    st.u32 [%a+4], %line;
    st.u32 [%a+8], 5;       // column
    st.u32 [%a+12], 4;      // \"k.rs\"
    st.u32 [%a+16], 4;      // \"oops\"
    st.u32 [%a+20], 0x73722e6b;
    st.u32 [%a+276], 0x73706f6f;
complete:
    fence.acq_rel.sys;
    st.volatile.u32 [%r+8], 1;
    fence.acq_rel.sys;
end:
    ret;
}}
"
    )
}
