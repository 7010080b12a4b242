#ifndef EPSLEDGER_SERVER_TRANSPORT_WIRE_GIVING_WAY_H_
#define EPSLEDGER_SERVER_TRANSPORT_WIRE_GIVING_WAY_H_

namespace epsledger::transport::wire {

// The calling thread gives way to the others of this machine from now on: it gets a ninth of a
// processor that another thread wants too (nice 10), and, where the kernel knows slices of single
// threads (Linux 6.12), leaves it within a tenth of a millisecond when one wakes. Without that a
// thread that wakes can wait for the rest of a slice, some milliseconds. Where the kernel refuses,
// nothing is changed.
void GiveWay();

}  // namespace epsledger::transport::wire

#endif  // EPSLEDGER_SERVER_TRANSPORT_WIRE_GIVING_WAY_H_
