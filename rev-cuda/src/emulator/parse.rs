//! Text to [`syntax`](super::syntax): the directives and the shape of statements.
//!
//! The grammar is that of the PTX ISA manual's chapters on syntax and directives, as far as programs
//! with kernels, registers and shared, local or constant variables need it. Debugging information (`.loc`,
//! `.file`) and `.pragma` are read and ignored. Device functions and
//! module-wide `.global` variables aren't supported and are errors.

use super::syntax::{Entry, Guard, Instruction, Item, Module, Operand, Param, Space, Type, Variable};
use super::text::Text;
use super::SyntaxError;

/// The newest version of the language that the emulator knows.
const NEWEST: (u32, u32) = (9, 0);

/// Reads a module.
pub(crate) fn module(source: &str) -> Result<Module, SyntaxError> {
    let mut text = Text::new(source);
    let mut module = Module::default();
    header(&mut text, &mut module)?;
    while !text.at_end() {
        let line = text.line();
        match text.expect_word("a directive")? {
            ".visible" | ".weak" => {}
            ".entry" => {
                let entry = entry(&mut text, line)?;
                if module.entries.iter().any(|e| e.name == entry.name) {
                    return Err(SyntaxError::new(line, format!("a second kernel `{}`", entry.name)));
                }
                module.entries.push(entry);
            }
            ".shared" => variables(&mut text, Space::Shared, line, &mut module.variables)?,
            ".const" => variables(&mut text, Space::Constant, line, &mut module.variables)?,
            ".file" => text.skip_line(),
            ".pragma" => pragma(&mut text)?,
            other => {
                return Err(SyntaxError::new(
                    line,
                    format!(
                    "expected `.entry`, `.shared` or `.const`, found `{other}`, which isn't supported here"
                ),
                ))
            }
        }
    }
    Ok(module)
}

fn header(text: &mut Text<'_>, module: &mut Module) -> Result<(), SyntaxError> {
    directive(text, ".version")?;
    let line = text.line();
    let version = text.expect_word("a version such as `7.8`")?;
    let parts = version.split_once('.').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    module.version =
        parts.ok_or_else(|| SyntaxError::new(line, format!("`{version}` isn't a version such as `7.8`")))?;
    if module.version > NEWEST {
        let (major, minor) = NEWEST;
        return Err(SyntaxError::new(line, format!("the newest version known here is {major}.{minor}")));
    }
    directive(text, ".target")?;
    let line = text.line();
    let target = text.expect_word("a target such as `sm_70`")?;
    let number = target.strip_prefix("sm_").map(|t| t.trim_end_matches(['a', 'f']));
    module.target = number
        .and_then(|n| n.parse().ok())
        .ok_or_else(|| SyntaxError::new(line, format!("`{target}` isn't a target such as `sm_70`")))?;
    let (major, minor) = since(module.target);
    if module.version < (major, minor) {
        return Err(SyntaxError::new(line, format!("`{target}` needs `.version {major}.{minor}`")));
    }
    while text.accept(',') {
        text.expect_word("an option of the target")?;
    }
    if text.peek_word() == Some(".address_size") {
        text.word();
        let line = text.line();
        if text.unsigned("the size of addresses")? != 64 {
            return Err(SyntaxError::new(line, "only addresses of 64 bits are supported".into()));
        }
    }
    Ok(())
}

/// The version that introduced a target (the manual's release notes).
fn since(target: u32) -> (u32, u32) {
    match target {
        ..=59 => (4, 1),
        60..=69 => (5, 0),
        70 | 71 => (6, 0),
        72..=74 => (6, 1),
        75..=79 => (6, 3),
        80..=85 => (7, 0),
        86 => (7, 1),
        87 | 88 => (7, 4),
        89..=99 => (7, 8),
        100 | 101 => (8, 6),
        120 => (8, 7),
        _ => (8, 8),
    }
}

fn directive(text: &mut Text<'_>, name: &str) -> Result<(), SyntaxError> {
    if text.peek_word() != Some(name) {
        return Err(text.error(&format!("`{name}`")));
    }
    text.word();
    Ok(())
}

fn pragma(text: &mut Text<'_>) -> Result<(), SyntaxError> {
    text.quoted()?;
    while text.accept(',') {
        text.quoted()?;
    }
    text.expect(';', "after `.pragma`")
}

fn entry(text: &mut Text<'_>, line: u32) -> Result<Entry, SyntaxError> {
    let name = text.expect_word("the kernel's name")?.to_string();
    let mut params = Vec::new();
    if text.accept('(') && !text.accept(')') {
        loop {
            params.push(param(text)?);
            if !text.accept(',') {
                break;
            }
        }
        text.expect(')', "after the parameters")?;
    }
    let mut entry = Entry { line, name, params, max_threads: None, required: None, body: Vec::new() };
    loop {
        match text.peek_word() {
            Some(".maxntid") => {
                text.word();
                entry.max_threads = Some(extents(text)?.iter().product());
            }
            Some(".reqntid") => {
                text.word();
                entry.required = Some(extents(text)?);
            }
            Some(".minnctapersm" | ".maxnreg" | ".maxnctapersm") => {
                text.word();
                text.unsigned("a number")?;
            }
            Some(".pragma") => {
                text.word();
                pragma(text)?;
            }
            _ => break,
        }
    }
    text.expect('{', "before the kernel's body")?;
    body(text, &mut entry.body)?;
    Ok(entry)
}

fn extents(text: &mut Text<'_>) -> Result<[u32; 3], SyntaxError> {
    let mut extents = [1; 3];
    for (n, extent) in extents.iter_mut().enumerate() {
        if n > 0 && !text.accept(',') {
            break;
        }
        *extent = text.unsigned("a number of threads")?;
    }
    Ok(extents)
}

fn param(text: &mut Text<'_>) -> Result<Param, SyntaxError> {
    directive(text, ".param")?;
    let mut align = None;
    if text.peek_word() == Some(".align") {
        text.word();
        align = Some(text.unsigned("an alignment")? as usize);
    }
    let ty = scalar_type(text)?;
    if text.peek_word() == Some(".ptr") {
        text.word();
        while let Some(word @ (".global" | ".shared" | ".local" | ".const" | ".align")) = text.peek_word() {
            text.word();
            if word == ".align" {
                text.unsigned("an alignment")?;
            }
        }
    }
    let name = text.expect_word("the parameter's name")?.to_string();
    let mut bytes = ty.bytes();
    if text.accept('[') {
        bytes *= text.unsigned("a length")? as usize;
        text.expect(']', "after the length")?;
    }
    Ok(Param { name, bytes, align: align.unwrap_or(ty.bytes()) })
}

fn scalar_type(text: &mut Text<'_>) -> Result<Type, SyntaxError> {
    let line = text.line();
    let word = text.expect_word("a type")?;
    word.strip_prefix('.')
        .and_then(Type::named)
        .ok_or_else(|| SyntaxError::new(line, format!("expected a type, found `{word}`")))
}

fn body(text: &mut Text<'_>, items: &mut Vec<Item>) -> Result<(), SyntaxError> {
    let mut depth = 0;
    loop {
        let line = text.line();
        if text.accept('{') {
            depth += 1;
            items.push(Item::Open);
            continue;
        }
        if text.accept('}') {
            if depth == 0 {
                return Ok(());
            }
            depth -= 1;
            items.push(Item::Close);
            continue;
        }
        if text.peek() == Some('@') {
            items.push(Item::Instruction(instruction(text, line)?));
            continue;
        }
        let Some(word) = text.peek_word() else {
            return Err(text.error("a statement or `}`"));
        };
        match word {
            ".reg" => {
                text.word();
                registers(text, line, items)?;
            }
            ".shared" | ".local" => {
                text.word();
                let space = if word == ".shared" { Space::Shared } else { Space::Local };
                let mut found = Vec::new();
                variables(text, space, line, &mut found)?;
                items.extend(found.into_iter().map(Item::Variable));
            }
            ".loc" | ".file" => text.skip_line(),
            ".pragma" => {
                text.word();
                pragma(text)?;
            }
            _ if word.starts_with('.') => {
                return Err(text.error("an instruction, a label or one of `.reg`, `.shared`, `.local`"))
            }
            _ => items.push(instruction_or_label(text, line)?),
        }
    }
}

fn registers(text: &mut Text<'_>, line: u32, items: &mut Vec<Item>) -> Result<(), SyntaxError> {
    let ty = scalar_type(text)?;
    loop {
        let name = text.expect_word("a register's name")?.to_string();
        let mut count = None;
        if text.accept('<') {
            count = Some(text.unsigned("how many registers")?);
            text.expect('>', "after the number of registers")?;
        }
        items.push(Item::Register { line, ty, name, count });
        if !text.accept(',') {
            break;
        }
    }
    text.expect(';', "after the registers")
}

fn variables(
    text: &mut Text<'_>,
    space: Space,
    line: u32,
    found: &mut Vec<Variable>,
) -> Result<(), SyntaxError> {
    let mut align = None;
    if text.peek_word() == Some(".align") {
        text.word();
        align = Some(text.unsigned("an alignment")? as usize);
        if !align.is_some_and(usize::is_power_of_two) {
            return Err(SyntaxError::new(line, "an alignment must be a power of two".into()));
        }
    }
    let ty = scalar_type(text)?;
    loop {
        let name = text.expect_word("a variable's name")?.to_string();
        let mut bytes = ty.bytes();
        while text.accept('[') {
            bytes *= text.unsigned("a length")? as usize;
            text.expect(']', "after the length")?;
        }
        let initial = match space {
            Space::Constant if text.accept('=') => initial(text, ty)?,
            _ => Vec::new(),
        };
        if initial.len() > bytes {
            return Err(SyntaxError::new(line, format!("`{name}` has room for {bytes} bytes")));
        }
        found.push(Variable { line, space, name, align: align.unwrap_or(ty.bytes()), bytes, initial });
        if !text.accept(',') {
            break;
        }
    }
    text.expect(';', "after the variable")
}

/// `1`, or `{ 1, 2 }`: the first elements of an array.
fn initial(text: &mut Text<'_>, ty: Type) -> Result<Vec<u8>, SyntaxError> {
    let list = text.accept('{');
    let mut bytes = Vec::new();
    loop {
        let line = text.line();
        let Operand::Int(value) = text.number("an initial value")? else {
            return Err(SyntaxError::new(line, "only integers are supported as initial values".into()));
        };
        bytes.extend(&value.to_le_bytes()[..ty.bytes()]);
        if !list || !text.accept(',') {
            break;
        }
    }
    if list {
        text.expect('}', "after the initial values")?;
    }
    Ok(bytes)
}

fn instruction_or_label(text: &mut Text<'_>, line: u32) -> Result<Item, SyntaxError> {
    let word = text.expect_word("an instruction")?;
    if text.accept(':') {
        return Ok(Item::Label(line, word.to_string()));
    }
    Ok(Item::Instruction(operation(text, line, None, word)?))
}

fn instruction(text: &mut Text<'_>, line: u32) -> Result<Instruction, SyntaxError> {
    text.expect('@', "before a guard")?;
    let negated = text.accept('!');
    let name = text.expect_word("a predicate register")?.to_string();
    let word = text.expect_word("an instruction")?;
    operation(text, line, Some(Guard { name, negated }), word)
}

fn operation(
    text: &mut Text<'_>,
    line: u32,
    guard: Option<Guard>,
    word: &str,
) -> Result<Instruction, SyntaxError> {
    let opcode: Vec<String> = word.split('.').map(str::to_string).collect();
    if opcode.iter().any(String::is_empty) || word.contains(['%', '$']) {
        return Err(SyntaxError::new(line, format!("expected an instruction, found `{word}`")));
    }
    let mut operands = Vec::new();
    if text.peek() != Some(';') {
        loop {
            operands.push(operand(text)?);
            if !text.accept(',') {
                break;
            }
        }
    }
    text.expect(';', "after the operands")?;
    Ok(Instruction { line, guard, opcode, operands })
}

fn operand(text: &mut Text<'_>) -> Result<Operand, SyntaxError> {
    let first = simple_operand(text)?;
    if text.accept('|') {
        return Ok(Operand::Pair(Box::new(first), Box::new(simple_operand(text)?)));
    }
    Ok(first)
}

fn simple_operand(text: &mut Text<'_>) -> Result<Operand, SyntaxError> {
    match text.peek() {
        Some('{') => {
            text.accept('{');
            let mut parts = vec![simple_operand(text)?];
            while text.accept(',') {
                parts.push(simple_operand(text)?);
            }
            text.expect('}', "after the vector")?;
            Ok(Operand::Vector(parts))
        }
        Some('[') => {
            text.accept('[');
            let address = match text.peek() {
                Some(c) if c.is_ascii_digit() || c == '-' => Operand::Address(None, offset(text)?),
                _ => {
                    let base = text.expect_word("a register or variable")?.to_string();
                    Operand::Address(Some(base), displacement(text)?)
                }
            };
            text.expect(']', "after the address")?;
            Ok(address)
        }
        Some('!') => {
            text.accept('!');
            Ok(Operand::Not(text.expect_word("a predicate register")?.to_string()))
        }
        Some(c) if c.is_ascii_digit() || c == '-' => text.number("a constant"),
        _ => {
            let name = text.expect_word("an operand")?.to_string();
            Ok(Operand::Name(name, displacement(text)?))
        }
    }
}

/// `+ 8`, `+ -8` or nothing.
fn displacement(text: &mut Text<'_>) -> Result<i64, SyntaxError> {
    if text.accept('+') {
        offset(text)
    } else {
        Ok(0)
    }
}

fn offset(text: &mut Text<'_>) -> Result<i64, SyntaxError> {
    let line = text.line();
    match text.number("an offset")? {
        Operand::Int(v) => {
            i64::try_from(v).map_err(|_| SyntaxError::new(line, "an offset must fit into 64 bits".into()))
        }
        _ => Err(SyntaxError::new(line, "an offset must be an integer".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = ".version 7.0\n.target sm_70\n.address_size 64\n";

    #[test]
    fn a_kernel_is_read() {
        let text = format!(
            "{HEAD}.visible .entry k(.param .u64 a, .param .align 8 .b8 s[24]) .maxntid 128, 2\n{{\n\
             .reg .b32 %r<3>, %x; // two\n.shared .align 8 .b8 t[64];\n.loc 1 2 3\nL:\n\
             @!%p ld.shared.v2.b32 {{%r0, %r1}}, [t+-8];\nshfl.sync.up.b32 %r0|%q, %r1, 1, 0, -1;\n\
             {{ bra L; }}\n}}\n"
        );
        let module = module(&text).unwrap();
        let entry = &module.entries[0];
        assert_eq!((entry.name.as_str(), entry.params.len(), entry.max_threads), ("k", 2, Some(256)));
        assert_eq!((entry.params[1].bytes, entry.params[1].align), (24, 8));
        assert_eq!(entry.body.len(), 9);
        let Item::Instruction(load) = &entry.body[4] else { panic!("{:?}", entry.body[4]) };
        assert_eq!(load.line, 10);
        assert!(load.guard.as_ref().is_some_and(|g| g.negated && g.name == "%p"));
        assert_eq!(load.operands[1], Operand::Address(Some("t".into()), -8));
    }

    #[test]
    fn errors_name_the_line_and_what_was_expected() {
        let wrong = [
            ("", "line 1: expected `.version`, found the end"),
            (".version 99.0 .target sm_70", "line 1: the newest version known here is 9.0"),
            (".version 5.0\n.target sm_70", "line 2: `sm_70` needs `.version 6.0`"),
            (".version 7.0\n.target cm_70", "line 2: `cm_70` isn't a target"),
            (".version 7.0\n.target sm_70\n.global .u32 x;", "line 3: expected `.entry`"),
            (
                ".version 7.0\n.target sm_70\n.entry k(.param .u64 a",
                "line 3: expected `)` after the parameters",
            ),
            (
                ".version 7.0\n.target sm_70\n.entry k() {\n.reg .q32 %r;\n}",
                "line 4: expected a type, found `.q32`",
            ),
            (".version 7.0\n.target sm_70\n.entry k() {\nret\n}", "line 5: expected an operand, found `}`"),
            (
                ".version 7.0\n.target sm_70\n.entry k() {\nret;",
                "line 4: expected a statement or `}`, found the end",
            ),
            (
                ".version 7.0\n.target sm_70\n.entry k() {\n.local .align 3 .b8 x[4];\n}",
                "line 4: an alignment must be",
            ),
            (
                ".version 7.0\n.target sm_70\n.entry k() {\nst.f32 [%r+0f00000000], 1;\n}",
                "line 4: an offset must be an integer",
            ),
            (".version 7.0\n.target sm_70\n.entry k() { }\n.entry k() { }", "line 4: a second kernel `k`"),
        ];
        for (text, message) in wrong {
            let error = module(text).unwrap_err().to_string();
            assert!(error.starts_with(message), "{text}: {error}");
        }
    }
}
