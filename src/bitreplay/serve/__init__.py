"""`bitreplay serve`: serves the page from a device, with one learner for all browsers (docs/serve.md).

    learner_service.py   the learner: one change at a time, each on the disk before it is acknowledged
    view.py              what everyone sees, evaluated on the pictures that were held back
    picture_store.py     pictures and steps, beside the state
    prediction_queue.py  predictions for many clients at once, from the last finished state
    guard.py             who may send requests: Host, Origin, token; headers of every response
    app.py               routes
    server.py            the server itself

It needs the extra `web` (starlette, uvicorn, python-multipart); nothing else imports this package.
"""
