import type { operations } from '@lockstep/contract'
import type { Client } from '@lockstep/testing/client'
import type { TestBoard, TestService } from '@lockstep/testing/service'

type Operations = typeof operations
/** The names of all lists with pages. A new one without a recipe does not compile. */
export type PagedName = {
  [N in keyof Operations]: Operations[N] extends { query: { properties: { cursor: object } } } ? N : never
}[keyof Operations]

/** How the elements of a list are created, removed and changed, so that those that are ordered by a changeable value move. */
interface Recipe {
  params?: Record<string, string>
  add: () => Promise<unknown>
  /** Missing if elements cannot be removed. */
  remove?: (key: string) => Promise<unknown>
  /** Missing if elements cannot be changed. */
  change?: (key: string) => Promise<unknown>
}

export interface World {
  service: TestService
  board: TestBoard
  api: Client
  card_id: string
}

let count = 0
const title = () => `Title ${count++}`

/** A board with a card, whose owner is a superuser. */
export async function makeWorld(service: TestService): Promise<World> {
  const board = await service.board()
  const { api, id } = board.owner
  await service.sql.query('update users set is_superuser = true where id = $1', [id])
  const params = { board_id: board.id, column_id: board.columns[0].id }
  const { id: card_id } = await api.call('createCard', { params, body: { title: title() } })
  return { service, board, api, card_id }
}

export const recipes: Record<PagedName, (world: World) => Promise<Recipe> | Recipe> = {
  listBoards: ({ api }) => ({
    add: () => api.call('createBoard', { body: { title: title() } }),
    remove: (board_id) => api.call('deleteBoard', { params: { board_id } }),
    change: (board_id) => api.call('updateBoard', { params: { board_id }, body: { title: title() } }),
  }),
  listMembers: ({ api, board, service }) => {
    const params = { board_id: board.id }
    const add = async () => api.call('inviteMember', { params, body: { user_id: (await service.user()).id } })
    const change = (user_id: string) =>
      user_id === board.owner.id
        ? Promise.resolve()
        : api.call('updateMember', { params: { ...params, user_id }, body: { role: 'owner' } })
    const remove = (user_id: string) => api.call('removeMember', { params: { ...params, user_id } })
    return { params, add, remove, change }
  },
  listInvitations: ({ api, board }) => {
    const params = { board_id: board.id }
    return {
      params,
      add: () => api.call('createInvitation', { params, body: {} }),
      remove: (invitation_id) => api.call('revokeInvitation', { params: { ...params, invitation_id } }),
    }
  },
  listWebhooks: ({ board: { id: board_id, owner }, api, service }) => ({
    params: { board_id },
    // Directly, because a board can have fewer than this test needs.
    add: () =>
      service.sql.query(
        `insert into webhooks (board_id, id, name, url, is_enabled, secret, created_by, epoch, seq)
        values ($1, gen_random_uuid(), 'CI', '', false, '', $2, 1, 0)`,
        [board_id, owner.id],
      ),
    remove: (webhook_id) => api.call('deleteWebhook', { params: { board_id, webhook_id } }),
    change: (webhook_id) =>
      api.call('updateWebhook', { params: { board_id, webhook_id }, body: { name: title(), is_enabled: false } }),
  }),
  listDeliveries: async ({ board: { id: board_id }, api, service }) => {
    const { id: webhook_id } = await api.call('createWebhook', {
      params: { board_id },
      body: { name: 'CI', url: 'https://hooks.example.com', is_enabled: false },
    })
    const add = () =>
      service.sql.query(
        `insert into webhook_deliveries (board_id, webhook_id, id, type, attempt, is_accepted)
        values ($1, $2, gen_random_uuid(), 'card.created', 1, true)`,
        [board_id, webhook_id],
      )
    return { params: { board_id, webhook_id }, add }
  },
  findCards: ({ api, board }) => {
    const params = { board_id: board.id }
    let moves = 0
    return {
      params,
      add: () =>
        api.call('createCard', {
          params: { ...params, column_id: board.columns[0].id },
          body: { title: title(), position: 0 },
        }),
      remove: (card_id) => api.call('deleteCard', { params: { card_id } }),
      change: (card_id) =>
        api.call('moveCard', {
          params: { card_id },
          body: { column_id: board.columns[moves++ % 2 === 0 ? 1 : 0].id, position: 0 },
        }),
    }
  },
  listLabels: ({ api, board }) => ({
    params: { board_id: board.id },
    add: () => api.call('createLabel', { params: { board_id: board.id }, body: { name: title() } }),
    remove: (label_id) => api.call('deleteLabel', { params: { label_id } }),
    change: (label_id) => api.call('updateLabel', { params: { label_id }, body: { name: `A ${title()}` } }),
  }),
  countLabels: ({ api, board, card_id }) => ({
    params: { board_id: board.id },
    add: () => api.call('createLabel', { params: { board_id: board.id }, body: { name: title() } }),
    remove: (label_id) => api.call('deleteLabel', { params: { label_id } }),
    change: (label_id) => api.call('addCardLabel', { params: { card_id, label_id } }),
  }),
  listComments: ({ api, card_id }) => ({
    params: { card_id },
    add: () => api.call('createComment', { params: { card_id }, body: { body: title() } }),
    remove: (comment_id) => api.call('deleteComment', { params: { comment_id } }),
    change: (comment_id) => api.call('updateComment', { params: { comment_id }, body: { body: title() } }),
  }),
  listRemoved: ({ api, board }) => {
    const params = { board_id: board.id }
    const at = { ...params, column_id: board.columns[0].id }
    const add = async () => {
      const { id: card_id } = await api.call('createCard', { params: at, body: { title: title() } })
      await api.call('archiveCard', { params: { card_id } })
    }
    const remove = (removed_id: string) => api.call('restoreRemoved', { params: { ...params, removed_id }, body: {} })
    return { params, add, remove }
  },
  listRules: ({ api, board }) => ({
    params: { board_id: board.id },
    add: () => addRule(api, board),
    remove: (rule_id) => api.call('deleteRule', { params: { rule_id } }),
    change: (rule_id) => api.call('updateRule', { params: { rule_id }, body: { name: title() } }),
  }),
  listRuns: async ({ api, board, card_id }) => {
    await addRule(api, board)
    const moveTo = (column_id: string) => api.call('moveCard', { params: { card_id }, body: { column_id } })
    const add = async () => {
      await moveTo(board.columns[0].id)
      await moveTo(board.columns[1].id)
    }
    return { params: { board_id: board.id }, add }
  },
  listEvents: ({ api, board, card_id }) => ({
    params: { board_id: board.id },
    add: () => api.call('updateCard', { params: { card_id }, body: { title: title() } }),
  }),
  listCardEvents: ({ api, board, card_id }) => ({
    params: { board_id: board.id, card_id },
    add: () => api.call('updateCard', { params: { card_id }, body: { title: title() } }),
  }),
  listInbox: ({ board }) => {
    const { owner, member } = board
    const body = { body: `@[Owner](user:${owner.id})` }
    const cards = new Map<string, string>()
    const cardOf = async (key: string) => {
      const [id = ''] = key.split(' ')
      const items = cards.has(id) ? [] : await owner.api.call('listInbox', { query: { limit: 100 } })
      for (const item of items) cards.set(item.id, item.card?.id ?? '')
      return { card_id: cards.get(id) as string }
    }
    const add = async () => {
      const params = { board_id: board.id, column_id: board.columns[0].id }
      const { id: card_id } = await member.api.call('createCard', { params, body: { title: title() } })
      await member.api.call('createComment', { params: { card_id }, body })
    }
    return {
      add,
      remove: async (key) => member.api.call('archiveCard', { params: await cardOf(key) }),
      change: async (key) => member.api.call('createComment', { params: await cardOf(key), body }),
    }
  },
  listTokens: ({ api }) => ({
    add: () => api.call('createToken', { body: { name: title(), scope: 'read' } }),
    remove: (token_id) => api.call('revokeToken', { params: { token_id } }),
  }),
  listBoardTokens: ({ api, board }) => ({
    params: { board_id: board.id },
    add: () => api.call('createToken', { body: { name: title(), scope: 'read', board_id: board.id } }),
    remove: (token_id) => api.call('revokeBoardToken', { params: { board_id: board.id, token_id } }),
  }),
  listAccountTokens: ({ api, board }) => ({
    params: { user_id: board.owner.id },
    add: () => api.call('createToken', { body: { name: title(), scope: 'read' } }),
    remove: (token_id) => api.call('revokeToken', { params: { token_id } }),
  }),
  findAccounts: ({ api, board, service }) => ({
    add: () => service.user(),
    change: (user_id) =>
      user_id === board.owner.id
        ? Promise.resolve()
        : api.call('updateAccount', { params: { user_id }, body: { is_active: false } }),
  }),
  listAdminActions: ({ api, board }) => ({
    add: () => api.call('exportAccount', { params: { user_id: board.owner.id } }),
  }),
  findInvitations: ({ api }) => ({
    add: () => api.call('createServiceInvitation', { body: {} }),
    remove: (invitation_id) => api.call('revokeAnyInvitation', { params: { invitation_id } }),
  }),
}

/** A rule for every card that is moved to the second column. */
function addRule(api: Client, board: TestBoard) {
  const body = { name: title(), trigger_type: 'CARD_MOVED', action_type: 'ASSIGN_MEMBER' } as const
  const action = { trigger_column_id: board.columns[1].id, action_user_id: board.member.id }
  return api.call('createRule', { params: { board_id: board.id }, body: { ...body, ...action } })
}
