import { setTimeout as pause } from 'node:timers/promises'
import { Client } from '@lockstep/testing/client'
import { startFaultyConnection } from '@lockstep/testing/client/faulty-connection'
import { type LiveOutcome, runLive } from '@lockstep/testing/client/live-run'
import { endProcesses, startPostgres, startRedis, startServiceProcess } from '@lockstep/testing/processes'

const PASSWORD = 'hush-hush correct horse'
const JWT_SECRET = 'hush-hush-signing-secret-of-the-client-tests'

interface Size {
  runs: number
  changes: number
  pause_ms: number
  /** How often the service is killed. */
  kills: number
}

/** Two live clients on a real service, while connections are cut, delayed and stalled, and Redis and the service are killed. */
export async function runLiveClients(size: Size): Promise<LiveOutcome[]> {
  const { runs, changes, pause_ms, kills } = size
  try {
    const [postgres, redis] = await Promise.all([startPostgres(), startRedis()])
    const DATABASE_URL = Object.assign(new URL(postgres.url), { pathname: '/lockstep' }).href
    const settings = { DATABASE_URL, REDIS_URL: redis.url, JWT_SECRET, LOG_LEVEL: 'warn' }
    let service = await startServiceProcess(settings)
    const line = await startFaultyConnection(service.base_url)
    const outcomes: LiveOutcome[] = []
    for (let seed = 1; seed <= runs; seed++) {
      const { board_id, users } = await newBoard(service.base_url, seed)
      const faults = async () => {
        for (let i = 0; i < kills; i++) {
          await pause(pause_ms * 8)
          line.cut()
          await pause(pause_ms * 5)
          line.delay(40)
          line.blackhole()
          await pause(pause_ms * 5)
          line.delay(0)
          redis.process().signal('SIGKILL')
          await pause(pause_ms * 5)
          await service.end('SIGKILL')
          line.cut()
          await Promise.all([pause(pause_ms * 5), redis.start()])
          service = await startServiceProcess(settings)
          line.setTarget(service.base_url)
          await pause(pause_ms * 10)
        }
        // Nothing cuts these connections any more: the clients must detect that they are dead.
        if (seed > 1) line.blackhole()
      }
      const base_url = () => service.base_url
      const outcome = await runLive({
        baseUrl: base_url,
        connection: line,
        board_id,
        users,
        seed,
        changes,
        pauseMs: pause_ms,
        faults,
      })
      outcomes.push(outcome)
    }
    await line.close()
    return outcomes
  } finally {
    await endProcesses()
  }
}

/** Two members, three columns, and a rule that moves cards on from the second column. */
async function newBoard(base_url: string, seed: number) {
  const anybody = new Client(base_url)
  const join = async (name: string) => {
    const username = `${name}-${seed}`
    const email = `${username}@example.com`
    const { id } = await anybody.call('register', { body: { email, username, password: PASSWORD } })
    const { access_token: token } = await anybody.call('login', { body: { username: email, password: PASSWORD } })
    return { id, token }
  }
  const [owner, member] = [await join('ada'), await join('grace')]
  const api = new Client(base_url, owner.token)
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
