import { checkCodes, checkHttp, checkProcesses, checkRemoval, checkStaleness } from './check-delivery.ts'
import {
  type Checker,
  checkAborted,
  checkBodies,
  checkFold,
  checkLog,
  checkLost,
  checkOrder,
  checkResume,
} from './check-log.ts'
import { checkPresence } from './check-presence.ts'
import type { Dump, History } from './history.ts'

/** What must hold of every run, by number. Each is proven by a fault that is planted into a history. */
export const checkers = {
  C1: { promise: 'the log has no hole', check: checkLog },
  C2: { promise: 'nothing refused is seen', check: checkAborted },
  C3: { promise: 'nothing acknowledged is lost', check: checkLost },
  C4: { promise: 'everybody gets the same text', check: checkBodies },
  C5: { promise: 'in order, no gap, once', check: checkOrder },
  C6: { promise: 'nobody is left behind', check: checkStaleness },
  C7: { promise: 'resuming is lossless', check: checkResume },
  C8: { promise: 'the events make the board', check: checkFold },
  C9: { promise: 'nothing after a removal', check: checkRemoval },
  C10: { promise: 'nobody who is there has left', check: checkPresence },
  C11: { promise: 'each close has its reason', check: checkCodes },
  C12: { promise: 'bounded memory, nothing unhandled', check: checkProcesses },
  C13: { promise: 'writes do not feel Redis', check: checkHttp },
} satisfies Record<string, { promise: string; check: Checker }>

export const checkAll = (history: History, dump: Dump): string[] =>
  Object.values(checkers).flatMap(({ check }) => check(history, dump))
