//! The PTX front end: lexer, parser and syntax tree.
