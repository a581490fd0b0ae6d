// Package devstack runs the servers that Prejoin works between, on this machine
// and for one purpose at a time: PostgreSQL clusters as shards, a one-node
// MongoDB replica set, and kfake as Kafka. In flows what to start; out flow
// addresses. It is for demonstration and tests, never for production.
//
// It promises that
//   - the servers are real (kfake is the one stand-in), found on the machine or
//     fetched with a checksum, and that what cannot be had is said in one
//     sentence with the next step;
//   - a crash is a crash: fsync and MongoDB's journal stay on, so that a test
//     of law 1 (convergence) or 3 (nothing lost) that kills a server sees
//     what a user would;
//   - nothing outlives it: every child dies with the process that started it,
//     by a signal from the kernel where that process was killed itself, and
//     folders that a killed process left are swept at the next start;
//   - it listens on loopback only and on ports that were free.
package devstack
