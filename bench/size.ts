/** How much is done: all of it, or as little as shows that everything works. */
export const FULL = {
  /** As an operator would have it on a machine with some memory: what is answered is safe on the disk. */
  postgres: {
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    shared_buffers: '1GB',
    max_wal_size: '16GB',
    checkpoint_timeout: '30min',
    jit: 'off',
    work_mem: '64MB',
  } as Record<string, string>,
  rounds: 5,
  /** Until the code of the service is compiled as it is in one that has run for a while. */
  warm_up_ms: 20_000,
  window_ms: 1_000,
  boards: 1_000,
  /** Connections to the service. */
  connections: [8, 32],
  hot_writers: 32,
  cards: [100, 1_000, 5_000],
  /** Loads of full boards in a row, in cards that are loaded. */
  loaded_cards: 20_000,
  sockets: 10_000,
  sockets_rate: 400,
  events: 9,
  deliveries: 600,
  logins: 200,
  growth: {
    samples: 40,
    boards: [100, 1_000, 10_000],
    cards: [50, 500, 5_000],
    members: [10, 100, 1_000],
    events: [100_000, 1_000_000, 10_000_000],
    sockets: [30, 300, 3_000],
  },
}
export type Size = typeof FULL

export const SMOKE: Size = {
  postgres: { jit: 'off' },
  rounds: 1,
  warm_up_ms: 150,
  window_ms: 150,
  boards: 20,
  connections: [8],
  hot_writers: 8,
  cards: [20],
  loaded_cards: 40,
  sockets: 50,
  sockets_rate: 1_000,
  events: 2,
  deliveries: 15,
  logins: 4,
  growth: {
    samples: 3,
    boards: [10, 20, 40],
    cards: [10, 20, 40],
    members: [5, 10, 20],
    events: [1_000, 2_000, 4_000],
    sockets: [5, 10, 20],
  },
}

/** For `versus`: as many rounds as an interval of ±2 % takes, within bounds. */
export const VERSUS = { ...FULL, warm_up_requests: 4_000, least_rounds: 15, most_rounds: 45 }
/** Too few rounds for a verdict, and enough to see that it works. */
export const VERSUS_SMOKE = { ...SMOKE, warm_up_requests: 20, least_rounds: 15, most_rounds: 2 }
