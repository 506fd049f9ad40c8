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
	for {
		magic, err := magicOf(dir)
		above := filepath.Dir(filepath.Clean(dir))
		if err == nil || above == dir {
			return networks[magic]
		}
		dir = above // it does not exist yet
	}
}

// networks are the magic numbers of file systems that other machines can have as well, and of FUSE,
// which sshfs, s3fs, GlusterFS and the shared folders of virtual machines use.
var networks = map[uint32]string{
	0x6969: "nfs", 0x517b: "smb", 0xfe534d42: "smb", 0xff534d42: "cifs", 0x564c: "ncp",
	0x5346414f: "afs", 0x73757245: "coda", 0x01021997: "9p", 0x65735546: "fuse", 0x0bd00bd0: "lustre",
}
