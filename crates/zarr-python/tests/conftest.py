"""What holds for all tests."""

import signal

# A shell starts background jobs, such as those of CI, with SIGINT ignored. Programs that they start
# inherit that, and Python then never raises KeyboardInterrupt. A handler of our own ends it for
# this process, and for those that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)
