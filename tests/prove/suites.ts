/** The long-running suites: `npm run prove -- <name>` runs the module of that name in this folder. */
export const suites: Record<string, { title: string; about: string }> = {
  realtime: {
    title: 'Fault injection',
    about:
      'Three instances, PostgreSQL and Redis as real processes, with 72 sockets and 100 writes a second. Instances are killed and frozen, connections cut, messages lost, and Redis stopped, in an order that a seed decides; once with one Redis and once with Redis Cluster. Afterwards thirteen checkers compare what clients sent and received with the event log: no gap in the log, no acknowledged write lost, no event missed, duplicated or reordered. Delays are measured from the commit to each reader, without the time in which a process was frozen.',
  },
  'realtime-simulation': {
    title: 'Simulation of the hub',
    about:
      'The class that orders and delivers events runs in virtual time: 3 instances, 3 boards and 9 clients for 30 s of faults, then recovery. Messages are lost, duplicated and reordered, instances crash between commit and publish, and Redis and the log fail. A violation names its seed, and the seed reproduces it.',
  },
  'client-simulation': {
    title: 'Simulation of the client',
    about:
      'The synchronization core of the client library runs with up to four clients of one board in virtual time, with lost requests and responses, reloads, restored backups, automation rules and several tabs. After every step the confirmed state must equal the board of the server at that position; in the end every client shows the same board, and every change was applied once. Then seeded defects are built into the code one by one, and the simulation must find each.',
  },
  'race-pairs': {
    title: 'Races between every two writes',
    about:
      'Every operation that changes a board runs against every other, and against itself, at the same moment, at two instances and at one. The first must succeed, and the second unless the first removed its target. After each pair the board is compared with its log.',
  },
  'full-board': {
    title: 'Full boards from the cache',
    about:
      'Boards live through random writes, at three instances that are killed, frozen and cut off from Redis and PostgreSQL meanwhile. After every write each instance is asked for the board, and its response is compared, byte for byte, with what PostgreSQL builds at that position. Then seeded defects that leave an old text in the cache are built into the service one by one, and the comparison must find each. At last the memory of a full cache is measured.',
  },
  fuzz: {
    title: 'Fuzzing the API',
    about:
      'Requests generated from the OpenAPI document, valid or with one thing broken, then WebSocket frames and handshakes generated from the AsyncAPI document. Every response is checked against the document: status, problem code, headers, and a body without undocumented fields. The process runs with a heap of 256 MiB.',
  },
  overload: {
    title: 'Five times the load',
    about:
      'Requests arrive at five times the rate that the service can handle, for a minute, on 1,000 open connections, while 200 sockets watch boards. Goodput counts correct responses within a second. It is compared with the peak rate in alternating runs, because the load generator shares the machine. The same flood against an instance without admission control must miss a bound.',
  },
  greedy: {
    title: 'Greedy accounts',
    about:
      'One lawful account after the other, with the default limits and quotas, sends as much as it can; once two at the same time, and once at the address of the bystander. The bystander is another user, whose requests of 15 classes are sent by the clock from the start of the attack. Each attack has a service that has just started, and starts three times; the samples of the three are judged together, those of the first eight seconds also by themselves. The control is the same without an attack. No action of the bystander may fail, the process stays below 1 GiB, and the p95 of every class is at most five times its control or 250 ms. A run that misses a bound is repeated up to twice: missed in two of three runs is a violation. Each row shows the class that was closest to its bound in the last run: p50 / p95.',
  },
  webhooks: {
    title: 'Webhooks through faults',
    about:
      'Four instances send the events of 100 boards, written over HTTP at the same time, to 500 webhooks at 20 receivers. Instances are killed, and frozen for longer than their lease; PostgreSQL and Redis are stopped without a shutdown; receivers are down, slow, answer too late or with 500, and cut connections before and after they processed an event. So that the run does not wait for the schedule of retries, SQL moves the next attempt of a failed webhook to now. Afterwards the requests of each webhook are compared with the log: order, completeness, every byte, and the signature by the reference library of Standard Webhooks. A receiver may process an event again only if its answer was lost, if an instance was killed or frozen while it waited for the answer, or if a stop of PostgreSQL lost the last 0.6 s of saved attempts. Then a receiver is down for a day and for five, in simulated time, and one takes 5 s for each response. At last seeded defects are built into the sender, and the comparison must find each.',
  },
  'webhooks-latency': {
    title: 'Writes with webhooks',
    about:
      'Requests that change boards in turn at half of the rate that one instance can handle, in alternating windows: with 50 webhooks, and with the webhooks disabled. First one of ten boards has a webhook, then each board, so that every write is sent. Service, PostgreSQL, receiver and load share the machine: in the second case the deliveries themselves bring it close to its limit. The receiver is a process of its own with the lowest priority, and accepts everything without a look at it. The percentile is taken per second, and the median of the seconds counts.',
  },
  large: {
    title: 'A large installation',
    about:
      'A PostgreSQL with default memory, filled with a million accounts and ten million events of 100,000 boards over 80 days. Every kind of people search runs a hundred times over HTTP, one after the other, with both settings of `USER_SEARCH`; some results are compared with a read of all accounts. Then statistics, and the erasure of an account that members and comments of other boards name; the longest statement comes from samples every 10 ms. At last ten thousand sockets disconnect at once because the processes of the clients end.',
  },
  soak: {
    title: 'An hour of mixed load',
    about:
      'Two instances with production settings and rate limits; users in processes of their own use the client library for everything it offers. The first third is a warm-up. After it memory must not grow, and event-loop lag, waits, latency, open files and sockets must stay level. Memory is measured after a garbage collection. Each row shows the instance that is closer to its bound.',
  },
  'operate-upgrade': {
    title: 'Upgrade and rollback under load',
    about:
      'Two instances of the previous release serve 16 writers, 4 readers and 50 sockets. The schema is migrated, the instances are replaced one by one, and then rolled back one by one on the new schema. No request is retried.',
  },
  'operate-failover': {
    title: 'Failover of PostgreSQL',
    about:
      'A primary with two synchronous standbys is killed, or frozen and resumed after it was replaced, while 16 writers and two live clients continue. Recovery is the time until the first acknowledged write, with the promotion, but without the detection of the failure. Then three servers with Patroni, etcd and HAProxy fail over by themselves: the primary is killed together with its Patroni, and recovery includes the detection of the failure; two of these failovers also have pgbouncer in between. At last an asynchronous standby that lost commits is promoted, and `npm run admin -- new-epoch` repairs the clients.',
  },
  'operate-pooler': {
    title: 'Behind pgbouncer',
    about:
      'Two instances share six connections to PostgreSQL through pgbouncer in transaction mode, once with fewer prepared statements than the service has and once with more. The whole acceptance suite runs, then a mix of reads and writes, then only writes, for the CPU time of pgbouncer.',
  },
  'operate-restore': {
    title: 'Backup and restore',
    about:
      'A base backup and a WAL archive of a service under load. The primary is killed and its data deleted, and the backup is restored to a moment between two known writes; the acceptance suite then runs on it. The RPO comes from a second restore, to the end of the archive.',
  },
  'web-walks': {
    title: 'Random walks through the web client',
    about:
      'A browser adds, moves, renames and deletes cards, goes offline and online, navigates, reloads, and closes and reopens the tab, in an order that a seed decides, while another user changes the board. In the end every queued change is in the log exactly once, or the other user removed its target. Once with the back/forward cache of the browser and once without.',
  },
  'web-speed': {
    title: 'Speed of the web client',
    about:
      'Boards of 1,000 and 5,000 cards are opened in new browser contexts; then cards are dropped, and another user changes cards, at last a hundred times a second. Service, PostgreSQL, Redis and browser share the machine.',
  },
  install: {
    title: 'From a minimal Debian to a shared board',
    about:
      'A minimal Debian in a folder, with git and Node.js 24, without libatomic. A user without privileges clones the repository, runs `npm ci` and `npm run demo`, and the two links are opened in two browsers outside. The times depend on the network.',
  },
  mutations: {
    title: 'What the tests of a submission notice',
    about:
      'The 25 worst defects in the history of this project, each brought back by one edit of the current code in a checkout of its own. First the tests in the folder of the edited file run, then everything that a submission with this change runs, then the suites of the file at full size, each until a test fails. That test must pass without the edit.',
  },
}
