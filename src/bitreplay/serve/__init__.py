"""`bitreplay serve`: the page from a device, with the learner on the device and several people looking (docs/serve.md).

    desk.py       the learner: one change at a time, each on the disk before it is acknowledged
    seeing.py     what everybody sees, judged by the pictures that were held back
    album.py      pictures and steps, beside the state
    answering.py  pictures in, answers out, many at a time, from the last finished state
    guard.py      who may ask: Host, Origin, token; headers of every answer
    app.py        addresses and what they do
    running.py    the server itself

It needs the extra `web` (starlette, uvicorn, python-multipart); nothing else imports this folder.
"""
