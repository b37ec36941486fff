package slurmtest

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// ports are the TCP ports of one cluster. MariaDB has a socket and no port.
type ports struct{ ctld, node, dbd, ghost int }

// freePorts chooses ports below those from which the kernel serves outgoing
// connections, any of which could take one meanwhile.
func freePorts() (ports, error) {
	const low, high = 20_000, 32_000
	var seed [2]byte
	rand.Read(seed[:])
	next := low + (int(seed[0])<<8|int(seed[1]))%(high-low)
	var p ports
	for _, port := range []*int{&p.ctld, &p.node, &p.dbd, &p.ghost} {
		for tried := 0; *port == 0; tried++ {
			if tried == high-low {
				return ports{}, errors.New("no free TCP port")
			}
			if next++; next >= high {
				next = low
			}
			l, err := net.Listen("tcp", ":"+strconv.Itoa(next))
			if err == nil {
				l.Close()
				*port = next
			}
		}
	}
	return p, nil
}

// writeConfig writes every file that a daemon reads.
func (c *Cluster) writeConfig() error {
	key := make([]byte, 1024)
	rand.Read(key)
	for name, content := range map[string]string{
		"munge.key":  string(key),
		"slurm.conf": c.slurmConf(),
		// A device file for each; nothing ever opens them.
		"gres.conf": fmt.Sprintf("NodeName=%s Name=gpu File=/dev/tty[0-%d]\n", c.host, GPUs-1),
		// slurmd reads one even where no plugin uses it.
		"cgroup.conf":   "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n",
		"slurmdbd.conf": c.slurmdbdConf(),
	} {
		// slurmdbd refuses a file that others can read.
		if err := os.WriteFile(c.path(name), []byte(content), 0o600); err != nil {
			return err
		}
	}
	// Programs of any user read these two, by way of the directory.
	for name, mode := range map[string]os.FileMode{"": 0o755, "slurm.conf": 0o644, "gres.conf": 0o644} {
		if err := os.Chmod(c.path(name), mode); err != nil {
			return err
		}
	}
	for _, name := range []string{"state", "spool"} {
		if err := os.Mkdir(c.path(name), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// slurmConf starts jobs the moment they can start, and gives up on a daemon that
// does not answer after five seconds, half of Slurm's own default.
func (c *Cluster) slurmConf() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("ClusterName=rig")
	line("SlurmctldHost=%s(127.0.0.1)", c.host)
	line("SlurmUser=root")
	line("SlurmctldPort=%d", c.ports.ctld)
	line("SlurmdPort=%d", c.ports.node)
	line("AuthType=auth/munge")
	line("CredType=cred/munge")
	// A job that is requeued waits for as long as a credential lives, two minutes by default.
	line("AuthInfo=socket=%s,cred_expire=20", c.path("munge.socket"))
	line("StateSaveLocation=%s", c.path("state"))
	line("SlurmdSpoolDir=%s", c.path("spool"))
	line("SlurmctldPidFile=%s", c.path("slurmctld.pid"))
	line("SlurmdPidFile=%s", c.path("slurmd.pid"))
	line("ProctrackType=proctrack/linuxproc")
	line("TaskPlugin=task/none")
	line("MpiDefault=none")
	line("JobAcctGatherType=jobacct_gather/linux")
	line("JobAcctGatherFrequency=1")
	line("JobAcctGatherParams=OverMemoryKill")
	line("SelectType=select/cons_tres")
	line("SelectTypeParameters=CR_Core_Memory")
	line("DefMemPerNode=256")
	line("SlurmdParameters=config_overrides")
	line("SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,sched_min_interval=0")
	line("MessageTimeout=5")
	line("KillWait=2")
	line("ReturnToService=2")
	line("InactiveLimit=0")
	line("MinJobAge=%d", c.minJobAge()/time.Second)
	line("GresTypes=gpu")
	if c.opt.Accounting {
		line("AccountingStorageType=accounting_storage/slurmdbd")
		line("AccountingStorageHost=127.0.0.1")
		line("AccountingStoragePort=%d", c.ports.dbd)
		// Without it slurmctld looks for the default munge socket, and dies.
		line("AccountingStoragePass=%s", c.path("munge.socket"))
		line("AccountingStorageEnforce=associations,limits,qos")
		line("AccountingStorageTRES=gres/gpu")
		if c.opt.StoreComments {
			line("AccountingStoreFlags=job_comment")
		}
	} else {
		line("AccountingStorageType=accounting_storage/none")
	}
	line("NodeName=%s NodeAddr=127.0.0.1 CPUs=%d RealMemory=16000 Gres=gpu:%d", c.host, c.opt.CPUs, GPUs)
	line("NodeName=ghost[1-2] NodeAddr=127.0.0.1 Port=%d CPUs=4 RealMemory=1000 State=DOWN", c.ports.ghost)
	line("PartitionName=%s Nodes=%s Default=YES MaxTime=7-0 State=UP", Lane, c.host)
	line("PartitionName=%s Nodes=%s MaxTime=60 State=UP", Spare, c.host)
	line("PartitionName=%s Nodes=ghost[1-2] MaxTime=60 State=UP", Ghosts)
	return b.String() + c.opt.Config
}

func (c *Cluster) minJobAge() time.Duration {
	if c.opt.MinJobAge == 0 {
		return 300 * time.Second
	}
	return c.opt.MinJobAge
}

func (c *Cluster) slurmdbdConf() string {
	return fmt.Sprintf(`AuthType=auth/munge
AuthInfo=socket=%s
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=%d
SlurmUser=root
PidFile=%s
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageLoc=slurm
StorageUser=root
`, c.path("munge.socket"), c.ports.dbd, c.path("slurmdbd.pid"))
}
