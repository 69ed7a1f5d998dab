"""`python -m autoindex_pyserini` is the `autoindex` command."""

from autoindex_pyserini.cli import main

if __name__ == "__main__":
    main()
