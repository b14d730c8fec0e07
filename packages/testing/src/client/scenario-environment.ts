import { operations } from '@lockstep/contract'
import type { Operation } from '@lockstep/contract/operation'
import type { OperationName } from '../../../client/src/index.ts'
import { everyParam, furnish, newTargets, validInput } from '../input-generator.ts'
import { PASSWORD, startService } from '../service.ts'
import { startFaultyProxy } from './faulty-proxy.ts'
import type { ScenarioContext } from './scenarios.ts'

/** What bodies refer to. Everything else is made only for the operations that have it in their path. */
const inBodies = new Set(['column_id', 'label_id', 'card_id', 'checklist_id'])

/**
 * Starts services and a faulty proxy for the scenarios. `newContext` makes fresh boards for each environment they run
 * in.
 */
export async function startScenarioEnvironment() {
  const service = await startService({ CORS_ORIGINS: '*', ADMIN_API: 'on' })
  const proxy = await startFaultyProxy(service.baseUrl)
  const { email } = await service.user()

  /** A valid call of every operation, each on a new board with what it needs. */
  const newCalls = async () => {
    const users = await Promise.all([service.user(), service.user(), service.user(), service.user()])
    const [owner, member, newcomer, root] = users
    await service.sql.query('update users set is_superuser = true where id = $1', [root.id])
    const targets = await newTargets(service)
    const calls: ScenarioContext['calls'] = []
    for (const [name, operation] of Object.entries<Operation>(operations)) {
      const { id: board_id } = await owner.api.call('createBoard', { body: { title: 'Calls' } })
      await owner.api.call('inviteMember', { params: { board_id }, body: { user_id: member.id } })
      const needed = [...everyParam()].filter((param) => operation.path.includes(`{${param}}`) || inBodies.has(param))
      const fixture = {
        ...targets,
        board_id,
        user_id: member.id,
        'inviteMember.user_id': newcomer.id,
        'login.username': owner.email,
        'login.cookie': 'false',
        password: PASSWORD,
        current_password: PASSWORD,
        new_password: PASSWORD,
      }
      const known = await furnish(owner.api, fixture, needed)
      // These end all sessions or access tokens of their user, which no other call uses.
      const others: Record<string, typeof owner> = { logoutEverywhere: newcomer, revokeTokens: member }
      const caller = operation.access === 'superuser' ? root : (others[name] ?? owner)
      const { params, query, body } = validInput(name, operation, known)
      const input = { ...params, ...query, ...(body as Record<string, unknown> | undefined) }
      const isEmpty = operation.returns.status === 204
      calls.push({ name: name as OperationName, input, token: caller.api.token ?? '', isEmpty })
    }
    return calls
  }
  const newContext = async (): Promise<ScenarioContext> => ({
    baseUrl: service.baseUrl,
    faultyUrl: proxy.baseUrl,
    email,
    password: PASSWORD,
    calls: await newCalls(),
  })
  const stop = async () => {
    await proxy.stop()
    await service.stop()
  }
  return { service, newContext, stop }
}
