"""`python -m rankloop` is the command line."""

from rankloop.cli import app

if __name__ == "__main__":
    app(prog_name="rankloop")
