"""A TCP proxy that does to connections what bad networks and bad machines do. Bytes are not looked at, so it works on TLS.

usage: with ChaosProxy(("127.0.0.2", port), ("127.0.0.1", port)) as proxy: proxy.mode = "drip"

| mode | what becomes of a connection |
|---|---|
| pass | nothing |
| delay | each piece comes DELAY_S later, both ways |
| drip | the answer comes one byte a second |
| reset | ends with RST at the first byte of an answer |
| half_close | the question arrives; instead of the answer comes the end of the stream, while the connection stays half open |
| truncate | ends after the first 40 bytes of an answer |
| hole_there | what the client sends is lost, and the connection stays |
| hole_back | what the service answers is lost, and the connection stays |
| refuse | ends with RST at the first byte of a question; new ones end so at once |

The mode counts for every piece from then on, on connections that are open already too: peers keep theirs.
"""
import asyncio
import socket
import struct
import threading

MODES = ("delay", "drip", "reset", "half_close", "truncate", "hole_there", "hole_back", "refuse")
DELAY_S = 0.7
PIECE = 65536


class ChaosProxy:
    def __init__(self, listen, target):
        self.listen, self.target = listen, target
        self.mode = "pass"
        self.connections = 0  # ever
        self.met = 0          # pieces that a mode other than pass was done to

    def __enter__(self):
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()
        self.thread = threading.Thread(target=self._run, args=(ready,), daemon=True)
        self.thread.start()
        assert ready.wait(10), "the proxy does not start"
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.over.set)
        self.thread.join(10)

    def _run(self, ready):
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self._serve(ready))
        self.loop.close()

    async def _serve(self, ready):
        self.over = asyncio.Event()
        self.tasks = set()
        server = await asyncio.start_server(self._accept, *self.listen)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        await self.over.wait()
        server.close()
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def _accept(self, reader, writer):
        self.tasks.add(asyncio.current_task())
        self.connections += 1
        other = None
        try:
            if self.mode == "refuse":
                self.met += 1
                return self._reset(writer)
            back, other = await asyncio.open_connection(*self.target)
            await asyncio.gather(self._pump(reader, other, writer, False), self._pump(back, writer, other, True))
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            for end in (writer, other):
                if end:
                    end.close()
            self.tasks.discard(asyncio.current_task())

    @staticmethod
    def _reset(writer):
        handle = writer.get_extra_info("socket")
        if handle is not None:
            handle.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    async def _pump(self, reader, writer, opposite, is_answer):
        """Carries one direction until it ends."""
        while True:
            piece = await reader.read(PIECE)
            if not piece:
                break
            mode = self.mode
            if mode == "delay":
                self.met += 1
                await asyncio.sleep(DELAY_S)
            elif mode == "hole_there" and not is_answer or mode == "hole_back" and is_answer:
                self.met += 1
                continue
            elif not is_answer and mode == "refuse" or is_answer and mode in ("reset", "half_close", "truncate", "drip"):
                self.met += 1
                if mode in ("reset", "refuse"):
                    self._reset(writer)
                    return self._reset(opposite)
                if mode == "half_close":
                    writer.write_eof()
                    while await reader.read(PIECE):
                        pass
                    return None
                if mode == "truncate":
                    writer.write(piece[:40])
                    await writer.drain()
                    writer.close()
                    return opposite.close()
                piece = await self._drip(piece, writer)
            writer.write(piece)
            await writer.drain()
        if not writer.is_closing() and writer.can_write_eof():
            writer.write_eof()
        return None

    async def _drip(self, piece, writer):
        """Byte after byte for as long as the mode stays; what is left then."""
        while piece and self.mode == "drip":
            writer.write(piece[:1])
            piece = piece[1:]
            await writer.drain()
            for _ in range(20):
                await asyncio.sleep(0.05)
                if self.mode != "drip":
                    break
        return piece
