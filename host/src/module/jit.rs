//! The driver's PTX compiler: its options and logs; and what a module's text says before it is loaded.

use super::options::ModuleOptions;
use warpsmith_driver::raw;

/// Options for the driver's compiler with buffers for its logs.
pub(crate) struct Jit {
    pub(crate) options: Vec<raw::CUjit_option>,
    pub(crate) values: Vec<*mut core::ffi::c_void>,
    info: Vec<u8>,
    error: Vec<u8>,
}

impl Jit {
    pub(crate) fn new(options: &ModuleOptions) -> Jit {
        const LOG: usize = 16 * 1024;
        let mut jit = Jit {
            options: Vec::new(),
            values: Vec::new(),
            info: vec![0; LOG],
            error: vec![0; LOG],
        };
        // The driver takes numbers as the pointers' values.
        let mut add = |option, value: usize| {
            jit.options.push(option);
            jit.values.push(value as *mut core::ffi::c_void);
        };
        add(
            raw::CUjit_option::CU_JIT_INFO_LOG_BUFFER,
            jit.info.as_mut_ptr() as usize,
        );
        add(raw::CUjit_option::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, LOG);
        add(
            raw::CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
            jit.error.as_mut_ptr() as usize,
        );
        add(raw::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, LOG);
        add(
            raw::CUjit_option::CU_JIT_OPTIMIZATION_LEVEL,
            options.optimisation as usize,
        );
        add(
            raw::CUjit_option::CU_JIT_LOG_VERBOSE,
            options.verbose.into(),
        );
        add(
            raw::CUjit_option::CU_JIT_GENERATE_LINE_INFO,
            options.line_info.into(),
        );
        if let Some(registers) = options.max_registers {
            add(raw::CUjit_option::CU_JIT_MAX_REGISTERS, registers as usize);
        }
        jit
    }

    pub(crate) fn errors(&self) -> String {
        text(&self.error)
    }

    pub(crate) fn infos(&self) -> String {
        text(&self.info)
    }
}

fn text(buffer: &[u8]) -> String {
    let end = buffer
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(buffer.len());
    String::from_utf8_lossy(&buffer[..end]).into_owned()
}

/// The names that follow `keyword`.
pub(crate) fn declared(ptx: &str, keyword: &str) -> Vec<String> {
    ptx.split(keyword)
        .skip(1)
        .filter(|rest| rest.starts_with(char::is_whitespace))
        .map(|rest| {
            rest.trim_start()
                .chars()
                .take_while(|&c| is_name(c))
                .collect()
        })
        .filter(|name: &String| !name.is_empty())
        .collect()
}

/// The names of visible variables of the module: lines such as `.visible .global .align 8 .u64 name = 0;`.
pub(crate) fn declared_variables(ptx: &str) -> Vec<String> {
    ptx.lines()
        .map(str::trim_start)
        .filter(|line| {
            [".visible .global", ".visible .const", ".global", ".const"]
                .iter()
                .any(|start| line.starts_with(start))
        })
        .filter_map(|line| {
            let declaration = line.split(['=', ';']).next()?;
            let name = declaration
                .split('[')
                .next()?
                .split_whitespace()
                .next_back()?;
            (name.starts_with(|c: char| is_name(c)) && !name.starts_with('.'))
                .then(|| name.to_owned())
        })
        .collect()
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_the_text() {
        let ptx = "
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 8 .u64 __warpsmith_panic = 0;
.visible .const .align 4 .b8 table[16] = {1, 2};
.global .align 1 .b8 _$_str[3];
.visible .entry saxpy(
    .param .f32 a
)
.maxntid 256
{ ret; }
.entry other() { ret; }
";
        assert_eq!(declared(ptx, ".entry"), ["saxpy", "other"]);
        assert_eq!(
            declared_variables(ptx),
            ["__warpsmith_panic", "table", "_$_str"]
        );
    }
}
