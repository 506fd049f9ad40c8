// Package journal keeps impressions in an append-only file, so that what was
// delivered survives a process that is killed. A file is an eight-byte header
// and then frames:
//
//	length  uint32, little endian, of the payload; 1 to MaxFrame
//	crc     uint32, little endian, CRC-32C of the payload
//	payload kind uint8, time int64 (Unix ms, little endian),
//	        agent and then one or more groups, each a uvarint length and bytes
//
// An append is one write, so a killed process loses at most the append it was
// in, and that one had not been acknowledged. The file is synced to the disk
// once a second: a power cut costs at most that last second.
//
// [Recover] reads a file back and repairs it. A tail that was not written
// whole is cut off. Damage with good frames behind it is something else: the
// good beginning is kept, all the rest is set aside in a file of its own.
package journal
