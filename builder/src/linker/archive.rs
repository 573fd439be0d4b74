//! Which bitcode goes into the link: members of `.rlib` archives, chosen by the symbols that are missing.
//!
//! A device crate's `.rlib` holds one bitcode member per codegen unit, and a symbol table over them. The
//! kernel crates are taken whole; of `core`, `alloc` and `compiler_builtins` only the members that define
//! something that is called, so that linking stays fast.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};

use object::ReadCache;
use object::read::archive::{ArchiveFile, ArchiveOffset};

/// A member of an archive.
pub struct ArchiveMember {
    /// Its file name.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// An opened `.rlib`.
pub struct Archive {
    path: PathBuf,
    cache: ReadCache<File>,
    /// Symbol name to offset of the member that defines it.
    symbols: HashMap<Vec<u8>, u64>,
}

impl Archive {
    /// Opens an archive and reads its symbol table.
    pub fn open(path: &Path) -> Result<Archive, String> {
        let fail = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
        let cache = ReadCache::new(File::open(path).map_err(|e| fail(&e))?);
        let archive = ArchiveFile::parse(&cache).map_err(|e| fail(&e))?;
        let mut symbols = HashMap::new();
        if let Some(table) = archive.symbols().map_err(|e| fail(&e))? {
            for symbol in table {
                let symbol = symbol.map_err(|e| fail(&e))?;
                symbols.insert(symbol.name().to_vec(), symbol.offset().0);
            }
        }
        Ok(Archive {
            path: path.to_path_buf(),
            cache,
            symbols,
        })
    }

    /// Offset of the member that defines `symbol`.
    pub fn defines(&self, symbol: &str) -> Option<u64> {
        self.symbols.get(symbol.as_bytes()).copied()
    }

    /// The member at this offset.
    pub fn member(&self, offset: u64) -> Result<ArchiveMember, String> {
        let fail = |e: &dyn std::fmt::Display| format!("{}: {e}", self.path.display());
        let archive = ArchiveFile::parse(&self.cache).map_err(|e| fail(&e))?;
        let member = archive
            .member(ArchiveOffset(offset))
            .map_err(|e| fail(&e))?;
        Ok(ArchiveMember {
            name: String::from_utf8_lossy(member.name()).into_owned(),
            bytes: member.data(&self.cache).map_err(|e| fail(&e))?.to_vec(),
        })
    }

    /// All bitcode members.
    pub fn bitcode_members(&self) -> Result<Vec<ArchiveMember>, String> {
        let fail = |e: &dyn std::fmt::Display| format!("{}: {e}", self.path.display());
        let archive = ArchiveFile::parse(&self.cache).map_err(|e| fail(&e))?;
        let mut members = Vec::new();
        for member in archive.members() {
            let member = member.map_err(|e| fail(&e))?;
            let name = String::from_utf8_lossy(member.name()).into_owned();
            if name.ends_with(".o") {
                members.push(ArchiveMember {
                    name,
                    bytes: member.data(&self.cache).map_err(|e| fail(&e))?.to_vec(),
                });
            }
        }
        Ok(members)
    }
}

/// The archives that members are pulled from on demand.
pub struct Library {
    archives: Vec<Archive>,
    taken: HashSet<(usize, u64)>,
}

impl Library {
    /// Opens all `paths`, searched in this order.
    pub fn open<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<Library, String> {
        let archives = paths
            .into_iter()
            .map(Archive::open)
            .collect::<Result<_, _>>()?;
        Ok(Library {
            archives,
            taken: HashSet::new(),
        })
    }

    /// The member that defines `symbol`, unless none does or it was already given out.
    pub fn pull(&mut self, symbol: &str) -> Result<Option<ArchiveMember>, String> {
        for (number, archive) in self.archives.iter().enumerate() {
            if let Some(offset) = archive.defines(symbol) {
                if !self.taken.insert((number, offset)) {
                    return Ok(None);
                }
                return archive.member(offset).map(Some);
            }
        }
        Ok(None)
    }
}
