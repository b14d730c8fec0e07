import { mutatedServer } from '@lockstep/testing/mutated-server'
import { endProcesses } from '@lockstep/testing/processes'
import { mutations } from '../webhook-harness/mutants.ts'
import { surviveOutage } from '../webhook-harness/outage.ts'
import { deliverThroughFaults, type FaultSize } from '../webhook-harness/run.ts'
import { delayWithSlowReceiver } from '../webhook-harness/slow-receiver.ts'
import { atLeast, atMost, collectFigures, equals, info, type Progress, type Report } from './report.ts'

const FULL: FaultSize = {
  ...{ deliveries: 100_000, boards: 100, webhooksPerBoard: 5, users: 10, receivers: 20, instances: 4, writers: 12 },
  ...{ kills: 40, freezes: 3, redisStops: 4, postgresStops: 4, gapMs: 1_000 },
}
/** Enough for each seeded defect to show itself. */
const SMALL: FaultSize = {
  ...{ deliveries: 2_000, boards: 10, webhooksPerBoard: 2, users: 4, receivers: 5, instances: 3, writers: 6 },
  ...{ kills: 2, freezes: 1, redisStops: 0, postgresStops: 0, gapMs: 1_500 },
}
const WAIT_AT_MOST = 72

/** Webhooks deliver every event in order through all faults, and the judge of that finds seeded defects. */
export async function prove(progress: Progress): Promise<Report> {
  const { figures, violations, add, fail } = collectFigures(progress)
  try {
    const run = await deliverThroughFaults(FULL, { seed: 1, progress })
    for (const violation of run.violations) fail(violation)
    add(
      atLeast('deliveries', run.deliveries, FULL.deliveries),
      info('deliveries per second, faults included', run.deliveries / run.seconds),
      equals('events lost, reordered, changed, wrongly signed, or sent twice at once', run.violations.length, 0),
      info('kills of instances', FULL.kills),
      info('instances frozen for longer than their lease', FULL.freezes),
      info('hard stops of PostgreSQL', FULL.postgresStops),
      info('hard stops of Redis', FULL.redisStops),
      info('changes of the behaviour of a receiver', run.modeChanges),
      info('requests', run.requests),
      info('answers that the receivers lost or refused after processing', run.lostAnswers),
      atMost('events that receivers processed again', run.repeated, run.repeatedAtMost),
      info('of them, older than the last one, after a stop of PostgreSQL', run.olderRepeated),
    )

    const outage = await surviveOutage()
    for (const violation of outage.violations) fail(`outage: ${violation}`)
    add(
      info('attempts in outages of one and five days', outage.attempts),
      equals('attempts not at their time, and events lost, in the outages', outage.violations.length, 0),
      atMost('first event after the receiver returned, simulated', outage.returnSeconds / 60, WAIT_AT_MOST, 'minutes'),
      info('paused after', outage.pausedAfterHours, 'hours'),
    )

    const { p99, slowRequests } = await delayWithSlowReceiver(30)
    add(
      info('delay to other receivers, p99', p99.without, 'ms'),
      atMost('the same with a receiver that takes 5 s', p99.with, Math.round(p99.without) + 1_000, 'ms'),
      info('requests to that receiver', slowRequests),
    )

    const missed: string[] = []
    for (const [name, mutation] of Object.entries(mutations)) {
      const mutant = await deliverThroughFaults(SMALL, {
        seed: 2,
        progress: () => {},
        main: await mutatedServer(mutation),
      })
      progress(`${name}: ${mutant.violations[0] ?? 'not detected'}`)
      if (mutant.violations.length === 0) missed.push(name)
    }
    for (const name of missed) fail(`not detected: ${name}`)
    add(
      info('seeded defects', Object.keys(mutations).length),
      equals('seeded defects that were not detected', missed.length, 0),
    )
  } finally {
    await endProcesses()
  }
  return { figures, violations }
}
