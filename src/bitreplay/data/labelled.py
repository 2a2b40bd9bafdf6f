"""The pictures in a folder of class folders, and their labels."""

from pathlib import Path

from bitreplay.arguments import path_of
from bitreplay.data.folder import SUFFIXES, picture_files


def labelled(folder: str | Path) -> tuple[list[Path], list[str]]:
    """List the pictures in a folder that has one folder per class.

    `learner.learn(*labelled("new-fruit"))` learns them, and reads one picture at a time.

    Parameters
    ----------
    folder : str or Path
        Hidden folders and files, and files without the suffix of a picture, are ignored.

    Returns
    -------
    paths : list of Path
    labels : list of str
        The name of each picture's folder.

    Raises
    ------
    FileNotFoundError
        If it is not a folder.
    ValueError
        If a class folder has no pictures, or there is none.

    Examples
    --------
    >>> import tempfile
    >>> root = Path(tempfile.mkdtemp())
    >>> for name in ("kiwi/1.jpg", "kiwi/2.jpg", "pear/1.png"):
    ...     (root / name).parent.mkdir(exist_ok=True)
    ...     (root / name).touch()
    >>> paths, labels = labelled(root)
    >>> [path.name for path in paths], labels
    (['1.jpg', '2.jpg', '1.png'], ['kiwi', 'kiwi', 'pear'])
    """
    root = path_of(folder, "A folder of class folders")
    if not root.is_dir():
        raise FileNotFoundError(f"{root} is not a folder: expected one folder per class in it.")
    paths: list[Path] = []
    labels: list[str] = []
    for path in sorted(path for path in root.iterdir() if path.is_dir() and not path.name.startswith(".")):
        files = picture_files(path)
        if not files:
            raise ValueError(f"{path} is a class folder without pictures ({', '.join(SUFFIXES)}).")
        paths += files
        labels += [path.name] * len(files)
    if not paths:
        raise ValueError(f"{root} has no class folder with pictures ({', '.join(SUFFIXES)}).")
    return paths, labels
