import { Client } from '@lockstep/testing/client'
import { PASSWORD, type TestService } from '@lockstep/testing/service'
import { openSocket } from '@lockstep/testing/socket'
import type { WebhookReceiver } from '@lockstep/testing/webhook-receiver'
import type { Recorder } from './recorder.ts'

const NEW_PASSWORD = `${PASSWORD} and more`
/** The secret of a link: its fragment. */
const secretOf = ({ link }: { link: string }) => link.replace(/.*#/, '')

/** Calls every operation at least once, as two users of a board and a superuser. The service has a database of its own. */
export async function callEverything(recorder: Recorder, { baseUrl, sql }: TestService, receiver: WebhookReceiver) {
  const call = recorder.call.bind(recorder)
  const anybody = new Client(baseUrl)
  const people = {
    ada: { email: 'ada@example.com', username: 'ada', firstname: 'Ada', lastname: 'Lovelace' },
    grace: { email: 'grace@example.com', username: 'grace', firstname: 'Grace', lastname: 'Hopper' },
    linus: { email: 'linus@example.com', username: 'linus' },
    root: { email: 'root@example.com', username: 'root' },
  }
  const enter = async ({ email }: { email: string }) => {
    const { access_token } = await call(anybody, 'login', { body: { username: email, password: PASSWORD } })
    return new Client(baseUrl, access_token)
  }
  const join = async (person: (typeof people)['ada' | 'linus']) => {
    const { id } = await call(anybody, 'register', { body: { ...person, password: PASSWORD } })
    return { id, api: await enter(person) }
  }
  const { id: ada_id, api: ada } = await join(people.ada)
  const { id: grace_id, api: grace } = await join(people.grace)
  const { api: linus } = await join(people.linus)
  const { id: root_id, api: root } = await join(people.root)
  await sql.query('update users set is_superuser = true where id = $1', [root_id])

  // Accounts.
  await call(ada, 'getMe', {})
  await call(linus, 'updateMe', { body: { firstname: 'Linus', lastname: null } })
  await call(linus, 'changePassword', { body: { current_password: PASSWORD, new_password: NEW_PASSWORD } })
  await call(ada, 'createTicket', {})
  await call(ada, 'getUser', { params: { user_id: grace_id } })
  await call(ada, 'findUsers', { query: { search: 'grace' } })
  for (const name of ['getHealth', 'getReadiness', 'getLiveness'] as const) await call(anybody, name, {})
  await cookies(recorder, baseUrl, people.grace.email)

  // A board, its members and its columns.
  const { id: board_id } = await call(ada, 'createBoard', {
    body: { title: 'Garden', description: 'Everything for the new garden.' },
  })
  const board = { board_id }
  const socket = openSocket(ada, board_id, { seq: true })
  await socket.next('user_joined')
  await call(ada, 'updateBoard', { params: board, body: { title: 'Our garden' } })
  await call(ada, 'inviteMember', { params: board, body: { user_id: grace_id } })
  const { id: todo } = await call(ada, 'createColumn', { params: board, body: { title: 'To do', color: '#2563eb' } })
  const { id: done } = await call(ada, 'createColumn', { params: board, body: { title: 'Done', is_done_column: true } })
  await call(ada, 'updateColumn', { params: { column_id: todo }, body: { title: 'Next' } })
  await call(ada, 'moveColumn', { params: { column_id: done }, body: { position: 0 } })

  // Cards with everything on them.
  const { id: label_id } = await call(ada, 'createLabel', { params: board, body: { name: 'Urgent', color: '#dc2626' } })
  await call(ada, 'createLabel', { params: board, body: { name: 'Later', color: '#16a34a' } })
  await call(ada, 'updateLabel', { params: { label_id }, body: { name: 'Very urgent' } })
  const inTodo = { params: { ...board, column_id: todo } }
  const { id: card_id } = await call(ada, 'createCard', {
    ...inTodo,
    body: { title: 'Build the shed', description: 'Behind the *apple tree*.', due_on: '2026-08-01' },
  })
  const { id: other_card } = await call(ada, 'createCard', { ...inTodo, body: { title: 'Paint the fence' } })
  const card = { params: { card_id } }
  await call(ada, 'addCardLabel', { params: { card_id, label_id } })
  await call(ada, 'assignCard', { ...card, body: { user_ids: [grace_id] } })
  const { id: checklist_id } = await call(ada, 'createChecklist', { ...card, body: { title: 'Material' } })
  const { id: second_list } = await call(ada, 'createChecklist', { ...card, body: { title: 'Tools' } })
  await call(ada, 'updateChecklist', { params: { checklist_id }, body: { title: 'Materials' } })
  await call(ada, 'moveChecklist', { params: { checklist_id: second_list }, body: { position: 0 } })
  const { id: item_id } = await call(ada, 'createItem', { params: { checklist_id }, body: { content: 'Planks' } })
  await call(ada, 'updateItem', { params: { item_id }, body: { is_done: true } })
  await call(ada, 'assignItem', { params: { item_id }, body: { user_ids: [ada_id] } })
  await call(ada, 'moveItem', { params: { item_id }, body: { checklist_id: second_list, position: 0 } })
  const { id: attachment_id } = await call(ada, 'createAttachment', {
    ...card,
    body: { file: new File(['Measure twice, cut once.'], 'plan.txt', { type: 'text/plain' }) },
  })
  await call(ada, 'getAttachment', { params: { attachment_id } })
  for (const range of ['bytes=0-6', 'bytes=99-'])
    await recorder.send(ada, 'getAttachment', { params: { attachment_id }, headers: { range } })
  const { id: comment_id } = await call(ada, 'createComment', {
    ...card,
    body: { body: `@[Grace Hopper](user:${grace_id}) can you bring the planks?` },
  })
  await call(grace, 'createComment', { ...card, body: { body: 'On Saturday.' } })
  await call(ada, 'updateComment', {
    params: { comment_id },
    body: { body: `@[Grace Hopper](user:${grace_id}) can you bring twelve planks?` },
  })
  await call(ada, 'listComments', card)
  await call(ada, 'updateCard', { ...card, body: { title: 'Build a small shed' } })
  await call(ada, 'getCard', card)
  await call(ada, 'findCards', { params: board, query: {} })

  // Automation rules, and two runs.
  const { id: rule_id } = await call(ada, 'createRule', {
    params: board,
    body: {
      name: 'Done by Grace',
      trigger_type: 'CARD_MOVED',
      trigger_column_id: done,
      action_type: 'ASSIGN_MEMBER',
      action_user_id: grace_id,
    },
  })
  await call(ada, 'createRule', {
    params: board,
    body: { name: 'Nothing', trigger_type: 'LABEL_ADDED', action_type: 'ASSIGN_MEMBER', is_enabled: false },
  })
  await call(ada, 'moveCard', { ...card, body: { column_id: done, position: 0 } })
  await call(ada, 'moveCard', { params: { card_id: other_card }, body: { column_id: done } })
  await call(ada, 'listRules', { params: board })
  await call(ada, 'listRuns', { params: board })
  await call(ada, 'updateRule', { params: { rule_id }, body: { is_enabled: false } })

  // Reading.
  await call(ada, 'getBoard', { params: board })
  await call(ada, 'createBoard', { body: { title: 'House' } })
  await call(ada, 'listBoards', {})
  await call(ada, 'getBoardUsage', { params: board })
  await call(ada, 'listMembers', { params: board })
  await call(ada, 'listLabels', { params: board })
  await call(ada, 'countLabels', { params: board })
  await call(ada, 'getPresence', { params: board })
  await call(ada, 'listEvents', { params: board, query: { after: '1.4' } })
  await call(ada, 'listCardEvents', { params: { ...board, card_id } })

  // Grace's inbox.
  const [item] = await call(grace, 'listInbox', {})
  await call(grace, 'getInboxSummary', {})
  await call(grace, 'updateInboxItem', {
    params: { inbox_item_id: item?.id ?? '' },
    body: { is_read: true, seen: item?.changed_at ?? '' },
  })
  await call(grace, 'readInbox', { body: { until: item?.changed_at ?? '' } })

  // Removals.
  await call(ada, 'archiveCard', { params: { card_id: other_card } })
  await call(ada, 'archiveColumn', { params: { column_id: todo } })
  await call(ada, 'listRemoved', { params: board })
  const removed = { params: { ...board, removed_id: other_card } }
  await call(ada, 'getRemoved', removed)
  await call(ada, 'restoreRemoved', { ...removed, body: { column_id: done, position: 0 } })
  await call(ada, 'deleteCard', { params: { card_id: other_card } })
  await call(ada, 'purgeRemoved', removed)
  await call(ada, 'deleteComment', { params: { comment_id } })
  await call(ada, 'unassignItem', { params: { item_id, user_id: ada_id } })
  await call(ada, 'deleteItem', { params: { item_id } })
  await call(ada, 'deleteChecklist', { params: { checklist_id } })
  await call(ada, 'deleteAttachment', { params: { attachment_id } })
  await call(ada, 'unassignCard', { params: { card_id, user_id: grace_id } })
  await call(ada, 'removeCardLabel', { params: { card_id, label_id } })
  await call(ada, 'deleteLabel', { params: { label_id } })
  await call(ada, 'deleteRule', { params: { rule_id } })

  // Webhooks.
  const { id: webhook_id } = await call(ada, 'createWebhook', {
    params: board,
    body: { name: 'Chat', url: receiver.url, kinds: ['card.created', 'card.moved'] },
  })
  await call(ada, 'createWebhook', { params: board, body: { name: 'Backup', url: receiver.url, is_enabled: false } })
  const webhook = { params: { ...board, webhook_id } }
  await call(ada, 'listWebhooks', { params: board })
  for (let i = 0; i < 2; i++) await call(ada, 'testWebhook', webhook)
  await call(ada, 'listDeliveries', webhook)
  await call(ada, 'updateWebhook', { ...webhook, body: { kinds: null } })
  await call(ada, 'resumeWebhook', { ...webhook, body: { after: '1.4' } })
  await call(ada, 'getWebhookSecret', webhook)
  await call(ada, 'rotateWebhookSecret', { ...webhook, body: { keep_old_hours: 12 } })
  await call(ada, 'getWebhook', webhook)
  await call(ada, 'deleteWebhook', webhook)

  // Access tokens.
  const { id: token_id } = await call(ada, 'createToken', { body: { name: 'Backup', scope: 'read' } })
  const { id: board_token } = await call(ada, 'createToken', {
    body: { name: 'Bot', scope: 'write', board_id, expires_in_days: 30 },
  })
  await call(ada, 'createToken', { body: { name: 'Second bot', scope: 'read', board_id } })
  await call(ada, 'listTokens', {})
  await call(ada, 'listBoardTokens', { params: board })
  await call(root, 'listAccountTokens', { params: { user_id: ada_id } })
  await call(ada, 'revokeBoardToken', { params: { ...board, token_id: board_token } })
  await call(ada, 'revokeToken', { params: { token_id } })
  await call(ada, 'revokeTokens', {})
  await call(root, 'revokeAccountTokens', { params: { user_id: ada_id } })

  // Invitations.
  const invitation = await call(ada, 'createInvitation', { params: board, body: { role: 'member' } })
  const unused = await call(ada, 'createInvitation', { params: board, body: {} })
  await call(ada, 'listInvitations', { params: board })
  await call(anybody, 'readInvitation', { body: { token: secretOf(invitation) } })
  await call(linus, 'acceptInvitation', { body: { token: secretOf(invitation) } })
  await call(ada, 'revokeInvitation', { params: { ...board, invitation_id: unused.id } })
  await call(root, 'createServiceInvitation', { body: { email: 'barbara@example.com' } })
  const second = await call(root, 'createServiceInvitation', { body: {} })
  await call(root, 'findInvitations', {})
  await call(root, 'revokeAnyInvitation', { params: { invitation_id: second.id } })

  // Members and the end of the board.
  const graceOfBoard = { params: { ...board, user_id: grace_id } }
  await call(ada, 'updateMember', { ...graceOfBoard, body: { role: 'owner' } })
  await call(ada, 'removeMember', graceOfBoard)
  await call(ada, 'archiveBoard', { params: board })
  await call(ada, 'restoreBoard', { params: board })
  await call(ada, 'deleteColumn', { params: { column_id: done } })

  // Administration.
  await call(root, 'findAccounts', {})
  const { id: barbara } = await call(root, 'createAccount', {
    body: { email: 'barbara@example.com', username: 'barbara', password: PASSWORD },
  })
  const account = { params: { user_id: barbara } }
  await call(root, 'getAccount', account)
  await call(root, 'updateAccount', { ...account, body: { is_active: true } })
  await call(root, 'resetPassword', { ...account, body: { new_password: NEW_PASSWORD } })
  const reset = await call(root, 'createResetLink', account)
  await call(anybody, 'resetPasswordByLink', { body: { token: secretOf(reset), new_password: NEW_PASSWORD } })
  await call(root, 'exportAccount', { params: { user_id: ada_id } })
  await call(root, 'getStatistics', {})
  await call(root, 'listAdminActions', {})
  await call(root, 'eraseAccount', account)

  // The messages of sockets. Those that depend on time are written down.
  await call(ada, 'deleteBoard', { params: board })
  await socket.closed
  for (const message of socket.messages.filter(({ type }) => type !== 'ping')) recorder.message(message)
  recorder.message({ type: 'ping', board_id, seq: 42 })
  recorder.message({ type: 'pong' })
  recorder.message({ type: 'user_left', user_id: grace_id, username: people.grace.username })
  recorder.message({ type: 'resync', epoch: 2, seq: 42 })

  // Sessions end.
  await call(ada, 'refresh', {})
  await call(ada, 'logout', {})
  await call(ada, 'logoutEverywhere', {})
  await recorder.send(ada, 'getMe', {})
}

/** The operations that set or clear the cookie, with one. */
async function cookies(recorder: Recorder, baseUrl: string, username: string) {
  const anybody = new Client(baseUrl)
  const response = await recorder.send(anybody, 'login', { body: { username, password: PASSWORD, cookie: 'true' } })
  const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? ''
  await recorder.send(anybody, 'refresh', { headers: { cookie } })
  await recorder.send(anybody, 'logout', { headers: { cookie } })
}
