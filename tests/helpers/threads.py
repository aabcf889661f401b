"""Work of many threads at once."""

import threading

THREADS, ROUNDS = 8, 200


def together(work, threads=THREADS, rounds=ROUNDS):
    """Starts threads at once, each of which calls work(number) `rounds` times, and raises their first error."""
    errors, start = [], threading.Barrier(threads)

    def run(number):
        start.wait()
        try:
            for _ in range(rounds):
                work(number)
        except BaseException as error:
            errors.append(error)

    workers = [threading.Thread(target=run, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if errors:
        raise errors[0]
