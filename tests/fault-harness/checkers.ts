import { checkCodes, checkHttp, checkProcesses, checkRemoval, checkStaleness } from './check-delivery.ts'
import {
  type Checker,
  checkAborted,
  checkBodies,
  checkCards,
  checkFold,
  checkLog,
  checkLost,
  checkOrder,
  checkResume,
} from './check-log.ts'
import { checkPresence } from './check-presence.ts'
import type { Dump, History } from './history.ts'

/** The guarantees that every run is checked for. Tests seed defects into a history to prove each checker. */
export const checkers = {
  C1: { guarantee: 'no gap in the log', check: checkLog },
  C2: { guarantee: 'no rejected write is delivered', check: checkAborted },
  C3: { guarantee: 'no acknowledged write is lost', check: checkLost },
  C4: { guarantee: 'all clients get the same text', check: checkBodies },
  C5: { guarantee: 'in order, without gaps or duplicates', check: checkOrder },
  C6: { guarantee: 'no client is left behind', check: checkStaleness },
  C7: { guarantee: 'resuming is lossless', check: checkResume },
  C8: { guarantee: 'the events fold to the board', check: checkFold },
  C9: { guarantee: 'nothing after a removal', check: checkRemoval },
  C10: { guarantee: 'no present user is announced as gone', check: checkPresence },
  C11: { guarantee: 'every close has a cause', check: checkCodes },
  C12: { guarantee: 'bounded memory, no unhandled error', check: checkProcesses },
  C13: { guarantee: 'writes do not depend on Redis', check: checkHttp },
  C14: { guarantee: 'no archived or deleted card is lost', check: checkCards },
} satisfies Record<string, { guarantee: string; check: Checker }>

export const checkAll = (history: History, dump: Dump): string[] =>
  Object.values(checkers).flatMap(({ check }) => check(history, dump))
