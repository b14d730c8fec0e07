import { setTimeout as pause } from 'node:timers/promises'
import { newAccount } from '@lockstep/testing/accounts'
import { Client } from '@lockstep/testing/client'
import { startFaultyConnection } from '@lockstep/testing/client/faulty-connection'
import { type LiveOutcome, runLive } from '@lockstep/testing/client/live-run'
import { startStores } from '@lockstep/testing/environment'
import { startServiceProcess } from '@lockstep/testing/processes'

interface Size {
  runs: number
  changes: number
  pauseMs: number
  /** How often the service is killed. */
  kills: number
}

/** Two live clients on a real service, while connections are cut, delayed and stalled, and Redis and the service are killed. */
export async function runLiveClients(size: Size): Promise<LiveOutcome[]> {
  const { runs, changes, pauseMs, kills } = size
  await using stores = await startStores()
  const { redis } = stores
  const settings = stores.settings()
  let service = await startServiceProcess(settings)
  const line = await startFaultyConnection(service.baseUrl)
  const outcomes: LiveOutcome[] = []
  for (let seed = 1; seed <= runs; seed++) {
    const { board_id, users } = await newBoard(service.baseUrl, seed)
    const faults = async () => {
      for (let i = 0; i < kills; i++) {
        await pause(pauseMs * 8)
        line.cut()
        await pause(pauseMs * 5)
        line.delay(40)
        line.blackhole()
        await pause(pauseMs * 5)
        line.delay(0)
        redis.process().signal('SIGKILL')
        await pause(pauseMs * 5)
        await service.end('SIGKILL')
        line.cut()
        await Promise.all([pause(pauseMs * 5), redis.start()])
        service = await startServiceProcess(settings)
        line.setTarget(service.baseUrl)
        await pause(pauseMs * 10)
      }
      // Nothing cuts these connections any more: the clients must detect that they are dead.
      if (seed > 1) line.blackhole()
    }
    const baseUrl = () => service.baseUrl
    const run = { baseUrl, connection: line, board_id, users, seed, changes, pauseMs: pauseMs, faults }
    const outcome = await runLive(run)
    outcomes.push(outcome)
  }
  await line.close()
  return outcomes
}

/** Two members, three columns, and a rule that moves cards on from the second column. */
async function newBoard(baseUrl: string, seed: number) {
  const [owner, member] = [await newAccount(baseUrl, `ada-${seed}`), await newAccount(baseUrl, `grace-${seed}`)]
  const api = new Client(baseUrl, owner.token)
  const { id: board_id } = await api.call('createBoard', { body: { title: 'Plan' } })
  const params = { board_id }
  await api.call('inviteMember', { params, body: { user_id: member.id } })
  const columns = []
  for (const title of ['To do', 'Doing', 'Done'])
    columns.push(await api.call('createColumn', { params, body: { title } }))
  const [trigger, action] = [columns[1]?.id ?? '', columns[2]?.id ?? '']
  const rule = { trigger_type: 'CARD_MOVED', action_type: 'MOVE_TO_COLUMN' } as const
  await api.call('createRule', {
    params,
    body: { name: 'Go on', ...rule, trigger_column_id: trigger, action_column_id: action },
  })
  await api.call('createLabel', { params, body: { name: 'red' } })
  // Both are owners: each may make every random change.
  await api.call('updateMember', { params: { board_id, user_id: member.id }, body: { role: 'owner' } })
  return { board_id, users: [owner, member] }
}
