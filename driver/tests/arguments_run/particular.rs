//! Wrong arguments of several parameters together, and of fields of structures.
