package datadir

import (
	"path/filepath"

	"github.com/freshet/freshet/configs"
)

// What is wrong with databases on a file system of a network, and what to do about it.
const (
	NetworkRisk   = "data_dir is on a file system that other machines may have as well: there locks and writes may have no effect, which damages SQLite's databases"
	NetworkAdvice = "put data_dir on a disk of this machine, or on a block device that the network provides"
)

// Network returns the kind of the file system that has the SQLite files of a configuration, such as
// nfs, if other machines can have it as well; otherwise "". There locks may have no effect, and a write
// that was confirmed may be lost: SQLite's files get damaged. It is also "" if the kind is unknown.
func Network(cfg configs.Config, dir string) string { return network(cfg, dir, magicOf) }

func network(cfg configs.Config, dir string, magicOf func(dir string) (uint32, error)) string {
	if len(Databases(cfg, dir)) == 0 {
		return ""
	}
	return kindOf(networks, dir, magicOf)
}

// kindOf returns the kind of the file system of a directory, or of the one above it that exists, "" if it is
// none of kinds.
func kindOf(kinds map[uint32]string, dir string, magicOf func(dir string) (uint32, error)) string {
	dir = Absolute(dir)
	for {
		magic, err := magicOf(dir)
		above := filepath.Dir(dir)
		if err == nil || above == dir {
			return kinds[magic]
		}
		dir = above // it does not exist yet
	}
}

// What is wrong with data in the layer of a container, or in memory, and what to do about it. They follow the name of
// the setting.
const (
	FleetingRisk   = "is in the own layer of a container, or in memory: what is there is lost when the container is replaced, or the machine restarts"
	FleetingAdvice = "mount a volume there, in the container of the server itself, or name another place"
)

// Fleeting returns the kind of the file system of a directory, such as overlay, if what is there ends with a
// container or with the machine; otherwise, and if the kind is unknown, "".
func Fleeting(dir string) string { return kindOf(fleeting, dir, magicOf) }

// fleeting are the magic numbers of the layers of containers, and of file systems in memory.
var fleeting = map[uint32]string{
	0x794c7630: "overlay", 0x61756673: "aufs", 0x01021994: "tmpfs", 0x858458f6: "ramfs",
}

// networks are the magic numbers of file systems that other machines can have as well, and of FUSE,
// which sshfs, s3fs, GlusterFS and the shared folders of virtual machines use.
var networks = map[uint32]string{
	0x6969: "nfs", 0x517b: "smb", 0xfe534d42: "smb", 0xff534d42: "cifs", 0x564c: "ncp",
	0x5346414f: "afs", 0x73757245: "coda", 0x01021997: "9p", 0x65735546: "fuse", 0x0bd00bd0: "lustre",
}
