//! Hessians of programs by edge pushing, which needs no tangents.

/// The Hessian of a program's first argument, the loss, by the others.
macro_rules! hessian {
    ($program:path $(, $arg:expr)*) => {{
        use rev_core::interp::Sparsity;
        use rev_core::value::DynArg;
        type Program = $program;
        Program::ir().hessian_pushed(0, &[0.0.load() $(, $arg.load())*]).unwrap().to_dense()
    }};
}
pub(crate) use hessian;
