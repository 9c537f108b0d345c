"""``python -m foldline``: the command line."""

from foldline.cli.main import main

if __name__ == "__main__":
    main()
