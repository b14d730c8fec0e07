import { DURABLE_POSTGRES } from '@lockstep/testing/load/measure'

/** The amount of work of a full run. */
export const FULL = {
  postgres: DURABLE_POSTGRES,
  rounds: 9,
  /** At most this many windows until rates are flat. */
  warmUpWindows: 15,
  windowMs: 1_000,
  boards: 300,
  hotWriters: 32,
  /** Sizes of the full boards. */
  cards: [100, 1_000, 5_000],
  /** Consecutive reads of a full board by the bare engine per round, as a total number of cards. */
  loadedCards: 5_000,
  sockets: 10_000,
  /** Sockets opened per second. */
  socketsRate: 400,
  /** Rounds of fan-out. */
  events: 9,
}
export type Size = typeof FULL

/** The smallest amount of work that runs every benchmark. */
export const SMOKE: Size = {
  postgres: { jit: 'off' },
  rounds: 1,
  warmUpWindows: 2,
  windowMs: 150,
  boards: 20,
  hotWriters: 8,
  cards: [20],
  loadedCards: 40,
  sockets: 50,
  socketsRate: 1_000,
  events: 2,
}

/** `versus` adds rounds within these bounds until the interval is within ±2 %. */
export const VERSUS = { ...FULL, warmUpRequests: 4_000, changedCards: [1_000, 5_000], leastRounds: 15, mostRounds: 45 }
/** Enough rounds to run it, too few for a verdict. */
export const VERSUS_SMOKE = { ...SMOKE, warmUpRequests: 20, changedCards: [20], leastRounds: 15, mostRounds: 2 }
