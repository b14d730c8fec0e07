// Generated from packages/contract by npm run generate.
import type { CallOptions } from './options.ts'
import type * as types from './types.gen.ts'

/** One method for each operation. */
export interface Calls {
  /** Create an account. Problems: `registration_closed`, `email_taken`, `username_taken`, `password_refused`, `too_many_requests`, `passwords_busy`. (`POST /auth/register`) */
  register(input: types.RegisterInput, options?: CallOptions): Promise<types.User>
  /** Log in with an e-mail address and a password. The field `username` carries the e-mail address. With `cookie=true` the token is also set as the HTTP-only cookie `svc_auth`. Problems: `login_failed`, `foreign_origin`, `too_many_requests`, `passwords_busy`. (`POST /auth/login`) */
  login(input: types.LoginInput, options?: CallOptions): Promise<types.Token>
  /** Clear the cookie. A bearer token stays valid until it expires. (`POST /auth/logout`) */
  logout(input?: types.LogoutInput, options?: CallOptions): Promise<types.Message>
  /** End all sessions. Every token issued until then is refused from then on, the one of this request too; sockets close with 1008. Clears the cookie. (`POST /auth/logout-everywhere`) */
  logoutEverywhere(input?: types.LogoutEverywhereInput, options?: CallOptions): Promise<types.Message>
  /** Exchange a valid token for a new one of full lifetime. Problems: `session_too_old`. (`POST /auth/refresh`) */
  refresh(input?: types.RefreshInput, options?: CallOptions): Promise<types.Token>
  /** Get a ticket that opens sockets. Valid for 30 seconds, as `token` in the address of a socket and nowhere else. The socket ends when the token behind the ticket does. (`POST /auth/ticket`) */
  createTicket(input?: types.CreateTicketInput, options?: CallOptions): Promise<types.Ticket>
  /** Read the own account. (`GET /auth/me`) */
  getMe(input?: types.GetMeInput, options?: CallOptions): Promise<types.User>
  /** Change the own name or username. Problems: `username_taken`. (`PATCH /auth/me`) */
  updateMe(input?: types.UpdateMeInput, options?: CallOptions): Promise<types.User>
  /** Change the own password. Every other token issued until then is refused from then on; the one that made the change stays valid. Problems: `wrong_password`, `password_refused`, `passwords_busy`. (`POST /auth/change-password`) */
  changePassword(input: types.ChangePasswordInput, options?: CallOptions): Promise<types.Message>
  /** Read the public profile of a user. Problems: `user_not_found`. (`GET /users/{user_id}`) */
  getUser(input: types.GetUserInput, options?: CallOptions): Promise<types.User>
  /** Find active users by a part of their username, e-mail address or name. Case-insensitive, ordered by username. `%`, `_` and `\` are plain characters. With `USER_SEARCH=limited`, the default in production, an e-mail address matches as a whole, and by a part only for people on a common board. There is no second page, and searches are limited by minute and by day. (`GET /users`) */
  findUsers(input?: types.FindUsersInput, options?: CallOptions): Promise<types.User[]>
  /** Say whether the service can work. 200 while the database answers, also without Redis; else 503 with the same fields and a `detail`. Problems: `unavailable`. (`GET /health`) */
  getHealth(input?: types.GetHealthInput, options?: CallOptions): Promise<types.Health>
  /** Say whether this instance takes requests. For whatever sends requests to several instances. 200 while the database answers and the instance is not about to stop; else 503. Problems: `unavailable`. (`GET /ready`) */
  getReadiness(input?: types.GetReadinessInput, options?: CallOptions): Promise<types.Readiness>
  /** Say that this instance answers at all. For whatever restarts an instance that hangs. It asks nobody else: a lost database is no reason to restart. (`GET /live`) */
  getLiveness(input?: types.GetLivenessInput, options?: CallOptions): Promise<types.Liveness>
  /** Create a board and become its owner. Problems: `id_taken`, `owned_board_limit`. (`POST /boards`) */
  createBoard(input: types.CreateBoardInput, options?: CallOptions): Promise<types.Board>
  /** List the boards you are a member of. (`GET /boards`) */
  listBoards(input?: types.ListBoardsInput, options?: CallOptions): Promise<types.Board[]>
  /** Read a board with its columns, cards, labels and members. `Board-Position` names the exact state that the answer shows. (`GET /boards/{board_id}`) */
  getBoard(input: types.GetBoardInput, options?: CallOptions): Promise<types.FullBoard>
  /** Change the title or the description of a board. (`PATCH /boards/{board_id}`) */
  updateBoard(input: types.UpdateBoardInput, options?: CallOptions): Promise<types.Board>
  /** Delete a board and everything on it. (`DELETE /boards/{board_id}`) */
  deleteBoard(input: types.DeleteBoardInput, options?: CallOptions): Promise<undefined>
  /** Read how much a board holds, and how much it may hold. Text counts as JSON, with 200 bytes for each object. `log_bytes_per_minute` is what recent changes have written to the history; it drains at the allowed rate. A `limit` is null where the operator has set none. (`GET /boards/{board_id}/usage`) */
  getBoardUsage(input: types.GetBoardUsageInput, options?: CallOptions): Promise<types.BoardUsage>
  /** Make a user a member of a board. Problems: `user_not_found`, `already_a_member`. (`POST /boards/{board_id}/invite`) */
  inviteMember(input: types.InviteMemberInput, options?: CallOptions): Promise<types.Invited>
  /** List the members of a board. (`GET /boards/{board_id}/members`) */
  listMembers(input: types.ListMembersInput, options?: CallOptions): Promise<types.BoardMember[]>
  /** Change the role of a member. A board keeps at least one owner. Problems: `member_not_found`, `last_owner`. (`PATCH /boards/{board_id}/members/{user_id}`) */
  updateMember(input: types.UpdateMemberInput, options?: CallOptions): Promise<types.BoardMember>
  /** Remove a member, or leave a board. First an event for each assignment that is lost, then the removal. The last owner stays. Problems: `member_not_found`, `last_owner`, `board_log_limit`. (`DELETE /boards/{board_id}/members/{user_id}`) */
  removeMember(input: types.RemoveMemberInput, options?: CallOptions): Promise<undefined>
  /** Add a column to a board. Placed last unless a position or an anchor is given. Problems: `id_taken`. (`POST /boards/{board_id}/columns`) */
  createColumn(input: types.CreateColumnInput, options?: CallOptions): Promise<types.Column>
  /** Change the title, the colour or the done mark of a column. (`PATCH /columns/{column_id}`) */
  updateColumn(input: types.UpdateColumnInput, options?: CallOptions): Promise<types.Column>
  /** Delete a column with its cards. One event, with the column and its cards as they were. (`DELETE /columns/{column_id}`) */
  deleteColumn(input: types.DeleteColumnInput, options?: CallOptions): Promise<undefined>
  /** Move a column within its board. `position` or `after_id` is required. When both are sent, `after_id` decides. (`POST /columns/{column_id}/move`) */
  moveColumn(input: types.MoveColumnInput, options?: CallOptions): Promise<types.Column>
  /** Add a card to a column. Placed last unless a position or an anchor is given. Problems: `column_not_found`, `id_taken`, `board_card_limit`. (`POST /boards/{board_id}/columns/{column_id}/cards`) */
  createCard(input: types.CreateCardInput, options?: CallOptions): Promise<types.Card>
  /** Find cards of a board by text, label, assignee and column. Cards that have all that is asked for; without a filter, every card. Ordered by id downwards, which is the newest first where the service made the ids: moving or changing a card does not move it between pages. `Link` leads to the next page. A label, user or column that is not of the board matches nothing. (`GET /boards/{board_id}/cards`) */
  findCards(input: types.FindCardsInput, options?: CallOptions): Promise<types.Card[]>
  /** Read a card. (`GET /cards/{card_id}`) */
  getCard(input: types.GetCardInput, options?: CallOptions): Promise<types.Card>
  /** Change the title or the description of a card. (`PATCH /cards/{card_id}`) */
  updateCard(input: types.UpdateCardInput, options?: CallOptions): Promise<types.Card>
  /** Delete a card. (`DELETE /cards/{card_id}`) */
  deleteCard(input: types.DeleteCardInput, options?: CallOptions): Promise<undefined>
  /** Move a card within its column or to another one. Problems: `column_not_found`. (`POST /cards/{card_id}/move`) */
  moveCard(input: types.MoveCardInput, options?: CallOptions): Promise<types.Card>
  /** Assign users to a card. Adds the users of the list; nobody is taken off. One event for each user of the list. Problems: `user_not_found`, `user_not_a_member`. (`PUT /cards/{card_id}/assignees`) */
  assignCard(input: types.AssignCardInput, options?: CallOptions): Promise<types.Card>
  /** Take a user off a card. Problems: `board_log_limit`, `change_too_large`. (`DELETE /cards/{card_id}/assignees/{user_id}`) */
  unassignCard(input: types.UnassignCardInput, options?: CallOptions): Promise<undefined>
  /** Put a label on a card. When it is there already, nothing changes and no event is emitted. Problems: `label_not_found`. (`POST /cards/{card_id}/labels/{label_id}`) */
  addCardLabel(input: types.AddCardLabelInput, options?: CallOptions): Promise<types.Card>
  /** Take a label off a card. Problems: `label_not_found`, `board_log_limit`, `change_too_large`. (`DELETE /cards/{card_id}/labels/{label_id}`) */
  removeCardLabel(input: types.RemoveCardLabelInput, options?: CallOptions): Promise<undefined>
  /** List the labels of a board. (`GET /boards/{board_id}/labels`) */
  listLabels(input: types.ListLabelsInput, options?: CallOptions): Promise<types.Label[]>
  /** Count the cards under each label of a board. The most used first, then by name; labels on no card are there too. (`GET /boards/{board_id}/labels/stats`) */
  countLabels(input: types.CountLabelsInput, options?: CallOptions): Promise<types.LabelUsage[]>
  /** Create a label on a board. Problems: `id_taken`. (`POST /boards/{board_id}/labels`) */
  createLabel(input: types.CreateLabelInput, options?: CallOptions): Promise<types.Label>
  /** Change the name or the colour of a label. One event; the cards that carry the label show it as it is now. (`PATCH /labels/{label_id}`) */
  updateLabel(input: types.UpdateLabelInput, options?: CallOptions): Promise<types.Label>
  /** Delete a label, and take it off every card. One event, none for the cards. (`DELETE /labels/{label_id}`) */
  deleteLabel(input: types.DeleteLabelInput, options?: CallOptions): Promise<undefined>
  /** Add a checklist to a card. Placed last. Problems: `id_taken`. (`POST /cards/{card_id}/checklists`) */
  createChecklist(input: types.CreateChecklistInput, options?: CallOptions): Promise<types.Checklist>
  /** Change the title of a checklist. (`PATCH /checklists/{checklist_id}`) */
  updateChecklist(input: types.UpdateChecklistInput, options?: CallOptions): Promise<types.Checklist>
  /** Delete a checklist with its items. (`DELETE /checklists/{checklist_id}`) */
  deleteChecklist(input: types.DeleteChecklistInput, options?: CallOptions): Promise<undefined>
  /** Move a checklist within its card. `position` or `after_id` is required. When both are sent, `after_id` decides. (`POST /checklists/{checklist_id}/move`) */
  moveChecklist(input: types.MoveChecklistInput, options?: CallOptions): Promise<types.Checklist>
  /** Add an item to a checklist. Placed last. Problems: `id_taken`. (`POST /checklists/{checklist_id}/items`) */
  createItem(input: types.CreateItemInput, options?: CallOptions): Promise<types.ChecklistItem>
  /** Change the content of an item, or tick it off. (`PATCH /items/{item_id}`) */
  updateItem(input: types.UpdateItemInput, options?: CallOptions): Promise<types.ChecklistItem>
  /** Delete an item. (`DELETE /items/{item_id}`) */
  deleteItem(input: types.DeleteItemInput, options?: CallOptions): Promise<undefined>
  /** Move an item within its checklist, or to another one of the board. Problems: `checklist_not_found`. (`POST /items/{item_id}/move`) */
  moveItem(input: types.MoveItemInput, options?: CallOptions): Promise<types.ChecklistItem>
  /** Assign users to an item. Adds the users of the list; nobody is taken off. One event for each user of the list. Problems: `user_not_found`, `user_not_a_member`. (`PUT /items/{item_id}/assignees`) */
  assignItem(input: types.AssignItemInput, options?: CallOptions): Promise<types.ChecklistItem>
  /** Take a user off an item. Problems: `board_log_limit`, `change_too_large`. (`DELETE /items/{item_id}/assignees/{user_id}`) */
  unassignItem(input: types.UnassignItemInput, options?: CallOptions): Promise<undefined>
  /** Attach a file to a card. One part with a file, whatever its name; its name and type are taken from the part. A part `id` may bring the id. Problems: `file_too_large`, `id_taken`, `board_file_limit`. (`POST /cards/{card_id}/attachments`) */
  createAttachment(input: types.CreateAttachmentInput, options?: CallOptions): Promise<types.Attachment>
  /** Download a file. Always as a download, never shown in place. `Range` asks for a part of it, `If-None-Match` for news only. A browser that wants it as a script, style sheet, worker, frame or object (`Sec-Fetch-Dest`) gets 403. Problems: `download_only`, `range_not_satisfiable`. (`GET /attachments/{attachment_id}`) */
  getAttachment(input: types.GetAttachmentInput, options?: CallOptions): Promise<Blob>
  /** Delete a file. (`DELETE /attachments/{attachment_id}`) */
  deleteAttachment(input: types.DeleteAttachmentInput, options?: CallOptions): Promise<undefined>
  /** Create an automation rule. Whatever column, label or user is given must belong to the board. A rule without the one that its trigger or its action needs is accepted and matches nothing. A board has at most 100 rules. Problems: `column_not_found`, `label_not_found`, `user_not_found`, `user_not_a_member`, `too_many_rules`, `id_taken`. (`POST /boards/{board_id}/automations`) */
  createRule(input: types.CreateRuleInput, options?: CallOptions): Promise<types.AutomationRule>
  /** List the automation rules of a board. (`GET /boards/{board_id}/automations`) */
  listRules(input: types.ListRulesInput, options?: CallOptions): Promise<types.AutomationRule[]>
  /** Change an automation rule. Only the fields that are sent are validated: a rule can always be renamed, enabled or disabled. Problems: `column_not_found`, `label_not_found`, `user_not_found`, `user_not_a_member`. (`PATCH /automations/{rule_id}`) */
  updateRule(input: types.UpdateRuleInput, options?: CallOptions): Promise<types.AutomationRule>
  /** Delete an automation rule. (`DELETE /automations/{rule_id}`) */
  deleteRule(input: types.DeleteRuleInput, options?: CallOptions): Promise<undefined>
  /** List what the rules of a board did, the newest first. `Link` leads to older ones. (`GET /boards/{board_id}/automation-runs`) */
  listRuns(input: types.ListRunsInput, options?: CallOptions): Promise<types.AutomationRun[]>
  /** List the users who are connected to a board. For any authenticated user. Without Redis it is the view of the instance that answers. Problems: `board_not_found`. (`GET /ws/boards/{board_id}/presence`) */
  getPresence(input: types.GetPresenceInput, options?: CallOptions): Promise<types.Presence>
  /** Read the log of a board: its history, and what a client missed. In order, behind the position `after` (`<epoch>.<seq>`, or a number alone); `Link` leads to the next page. `Board-Position` is where the board stands. 410 when events behind `after` are no longer kept: load the board instead. Problems: `history_gone`. (`GET /boards/{board_id}/events`) */
  listEvents(input: types.ListEventsInput, options?: CallOptions): Promise<types.LoggedEvent[]>
  /** List the accounts, or those with a part of a username or an e-mail address. In the order of their ids, which is that of their registration; `Link` leads to the next page. For superusers, where `ADMIN_API=on`. (`GET /admin/users`) */
  findAccounts(input?: types.FindAccountsInput, options?: CallOptions): Promise<types.Account[]>
  /** Read an account. For superusers, where `ADMIN_API=on`. Problems: `user_not_found`. (`GET /admin/users/{user_id}`) */
  getAccount(input: types.GetAccountInput, options?: CallOptions): Promise<types.Account>
  /** Activate or deactivate an account, or make it a superuser’s or not. A deactivated user is refused from the next request on, and his sockets close. For superusers, where `ADMIN_API=on`. Problems: `user_not_found`, `own_account`, `user_erased`. (`PATCH /admin/users/{user_id}`) */
  updateAccount(input: types.UpdateAccountInput, options?: CallOptions): Promise<types.Account>
  /** Give an account a new password. Every token issued before is refused, the user’s sockets close, and failed logins are forgotten. For superusers, where `ADMIN_API=on`. Problems: `user_not_found`, `own_account`, `user_erased`, `password_refused`, `passwords_busy`. (`POST /admin/users/{user_id}/reset-password`) */
  resetPassword(input: types.ResetPasswordInput, options?: CallOptions): Promise<types.Message>
  /** Export all that is kept of a user. Each export is an entry of the audit log, and so no GET. For superusers, where `ADMIN_API=on`. Problems: `user_not_found`. (`POST /admin/users/{user_id}/export`) */
  exportAccount(input: types.ExportAccountInput, options?: CallOptions): Promise<types.AccountExport>
  /** Erase a user’s personal data. He leaves all boards, and no name of him stays. It cannot be taken back; broken off, it is completed by sending it again. For superusers, where `ADMIN_API=on`. Problems: `user_not_found`, `own_account`, `board_busy`. (`DELETE /admin/users/{user_id}`) */
  eraseAccount(input: types.EraseAccountInput, options?: CallOptions): Promise<undefined>
  /** Count what there is, and what was new on each of the last seven days. For superusers, where `ADMIN_API=on`. (`GET /admin/statistics`) */
  getStatistics(input?: types.GetStatisticsInput, options?: CallOptions): Promise<types.Statistics>
  /** Read the audit log, the newest entry first. `Link` leads to older entries. For superusers, where `ADMIN_API=on`. (`GET /admin/audit`) */
  listAdminActions(input?: types.ListAdminActionsInput, options?: CallOptions): Promise<types.AdminAction[]>
}
