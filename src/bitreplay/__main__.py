"""python -m bitreplay"""

from bitreplay.cli import main

if __name__ == "__main__":
    main()
