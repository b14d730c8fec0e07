import { operations } from '@lockstep/contract'
import type { Operation } from '@lockstep/contract/operation'
import type { OperationName } from '../../../client/src/index.ts'
import { furnish, newTargets, validInput } from '../input-generator.ts'
import { PASSWORD, startService } from '../service.ts'
import { startFaultyProxy } from './faulty-proxy.ts'
import type { Setting } from './scenarios.ts'

/** Services and a proxy for the scenarios, for clients of any origin, and a fresh walk for each place where they run. */
export async function startSetting() {
  const service = await startService({ CORS_ORIGINS: '*', ADMIN_API: 'on' })
  const short = await startService({ CORS_ORIGINS: '*', TOKEN_LIFETIME_SECONDS: '5' }, { beside: service })
  const proxy = await startFaultyProxy(service.base_url)
  const { email } = await service.user()

  /** Every operation, each on a new board with one of everything. */
  const walk = async () => {
    const users = await Promise.all([service.user(), service.user(), service.user(), service.user()])
    const [owner, member, newcomer, root] = users
    await service.sql.query('update users set is_superuser = true where id = $1', [root.id])
    const targets = await newTargets(service)
    const steps: Setting['walk'] = []
    for (const [name, operation] of Object.entries<Operation>(operations)) {
      const { id: board_id } = await owner.api.call('createBoard', { body: { title: 'Walk' } })
      await owner.api.call('inviteMember', { params: { board_id }, body: { user_id: member.id } })
      const known = await furnish(owner.api, {
        ...targets,
        board_id,
        user_id: member.id,
        'inviteMember.user_id': newcomer.id,
        'login.username': owner.email,
        'login.cookie': 'false',
        password: PASSWORD,
        current_password: PASSWORD,
        new_password: PASSWORD,
      })
      // Whose sessions end has nothing else to do.
      const doer = operation.access === 'superuser' ? root : name === 'logoutEverywhere' ? newcomer : owner
      const { params, query, body } = validInput(name, operation, known)
      const input = { ...params, ...query, ...(body as Record<string, unknown> | undefined) }
      steps.push({ name: name as OperationName, input, token: doer.api.token ?? '' })
    }
    return steps
  }
  const setting = async (): Promise<Setting> => ({
    base_url: service.base_url,
    faulty_url: proxy.base_url,
    short_url: short.base_url,
    email,
    password: PASSWORD,
    walk: await walk(),
  })
  const stop = async () => {
    await proxy.stop()
    await short.stop()
    await service.stop()
  }
  return { service, setting, stop }
}
