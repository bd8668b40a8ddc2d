//! The kernel as raddle sees it: io_uring and epoll behind one contract.
