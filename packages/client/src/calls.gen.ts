// Generated from packages/contract by npm run generate.
import type { CallOptions } from './options.ts'
import type * as types from './types.gen.ts'

/** One method for each operation. */
export interface Calls {
  /** Create an account. While registration is closed, an invitation is required. Problems: `registration_closed`, `link_invalid`, `wrong_invited_email`, `email_taken`, `username_taken`, `password_refused`, `too_many_requests`, `passwords_busy`. (`POST /auth/register`) */
  register(input: types.RegisterInput, options?: CallOptions): Promise<types.User>
  /** Log in with an e-mail address and a password. The field `username` contains the e-mail address. With `cookie=true` the token is also set as the HTTP-only cookie `svc_auth`. Problems: `login_failed`, `foreign_origin`, `too_many_requests`, `passwords_busy`. (`POST /auth/login`) */
  login(input: types.LoginInput, options?: CallOptions): Promise<types.Token>
  /** Clear the cookie. A bearer token stays valid until it expires. (`POST /auth/logout`) */
  logout(input?: types.LogoutInput, options?: CallOptions): Promise<types.Message>
  /** End all sessions. Revokes every session of the user, including the one of this request; sockets close with 1008. Clears the cookie. Access tokens stay valid. (`POST /auth/logout-everywhere`) */
  logoutEverywhere(input?: types.LogoutEverywhereInput, options?: CallOptions): Promise<types.Message>
  /** Exchange a valid token for a new one with full lifetime. The session can be renewed until it reaches its maximum age, counted from the login. The old token stays valid until it expires. Problems: `session_too_old`. (`POST /auth/refresh`) */
  refresh(input?: types.RefreshInput, options?: CallOptions): Promise<types.Token>
  /** Get a ticket that opens sockets. Valid for 30 seconds, only as `token` in the URL of a socket. The socket closes when the token behind the ticket expires or is revoked. (`POST /auth/ticket`) */
  createTicket(input?: types.CreateTicketInput, options?: CallOptions): Promise<types.Ticket>
  /** Read your account. The account that the credential of the request belongs to. With an access token, its user. (`GET /auth/me`) */
  getMe(input?: types.GetMeInput, options?: CallOptions): Promise<types.User>
  /** Change your name or username. Fields that are left out do not change. The e-mail address cannot be changed. Problems: `username_taken`. (`PATCH /auth/me`) */
  updateMe(input?: types.UpdateMeInput, options?: CallOptions): Promise<types.User>
  /** Change your password. Revokes every other session of the user; the session of this request stays valid. Access tokens stay valid too, unless `revoke_tokens` is true. Problems: `wrong_password`, `password_refused`, `passwords_busy`. (`POST /auth/change-password`) */
  changePassword(input: types.ChangePasswordInput, options?: CallOptions): Promise<types.Message>
  /** Set a new password with a reset link. An operator makes the link. It can be used once. Revokes all tokens of the user. Problems: `link_invalid`, `password_refused`, `too_many_requests`, `passwords_busy`. (`POST /auth/reset-password`) */
  resetPasswordByLink(input: types.ResetPasswordByLinkInput, options?: CallOptions): Promise<types.Message>
  /** Read who invites to what. Does not use the invitation up. Problems: `link_invalid`, `too_many_requests`. (`POST /invitations/read`) */
  readInvitation(input: types.ReadInvitationInput, options?: CallOptions): Promise<types.InvitationPreview>
  /** Join a board by invitation. Emits `board.member_added`. A member of the board gets the same response, and does not use the invitation up; nor does an invitation to the service, for which `board_id` is null. Problems: `board_archived`, `link_invalid`, `wrong_invited_email`, `board_not_found`, `already_a_member`, `board_busy`, `board_log_limit`, `board_text_limit`, `change_too_large`. (`POST /invitations/accept`) */
  acceptInvitation(input: types.AcceptInvitationInput, options?: CallOptions): Promise<types.AcceptedInvitation>
  /** Read the public profile of a user. For any authenticated user. A deactivated user can be read too. Problems: `user_not_found`. (`GET /users/{user_id}`) */
  getUser(input: types.GetUserInput, options?: CallOptions): Promise<types.User>
  /** Search active users by username, e-mail address or name. Matches substrings, case-insensitively; ordered by username. `%`, `_` and `\` are plain characters. With `USER_SEARCH=limited`, the default in production, only a full e-mail address matches, or a part of it for members of common boards; without a text, the result is the caller and the members of their boards. There is no second page. Searches are limited per minute and per day. (`GET /users`) */
  findUsers(input?: types.FindUsersInput, options?: CallOptions): Promise<types.User[]>
  /** Check the health of the service. 200 while the database is reachable, also without Redis; otherwise 503 with the same fields and a `detail`. Problems: `unavailable`. (`GET /health`) */
  getHealth(input?: types.GetHealthInput, options?: CallOptions): Promise<types.Health>
  /** Check whether this instance accepts requests. Readiness probe for load balancers. 200 while the database is reachable and the instance is not shutting down; otherwise 503. Problems: `unavailable`. (`GET /ready`) */
  getReadiness(input?: types.GetReadinessInput, options?: CallOptions): Promise<types.Readiness>
  /** Check whether this instance responds. Liveness probe, to restart an instance that hangs. It does not depend on the database, whose loss is not fixed by a restart. (`GET /live`) */
  getLiveness(input?: types.GetLivenessInput, options?: CallOptions): Promise<types.Liveness>
  /** Create a board and become its owner. The board has no columns and no labels at first. It counts towards your limit of boards. Problems: `id_taken`, `owned_board_limit`. (`POST /boards`) */
  createBoard(input: types.CreateBoardInput, options?: CallOptions): Promise<types.Board>
  /** List the boards you are a member of. Oldest first. A page ends with the board that fills 1 MiB. Only this list has `open_cards`, `my_cards` and `changed_at`. With an access token of one board, it has only that board. (`GET /boards`) */
  listBoards(input?: types.ListBoardsInput, options?: CallOptions): Promise<types.ListedBoard[]>
  /** Read a board with its columns, cards, labels and members. `Board-Position` is the position of exactly the returned state. (`GET /boards/{board_id}`) */
  getBoard(input: types.GetBoardInput, options?: CallOptions): Promise<types.FullBoard>
  /** Change the title or the description of a board. Fields that are left out do not change. (`PATCH /boards/{board_id}`) */
  updateBoard(input: types.UpdateBoardInput, options?: CallOptions): Promise<types.Board>
  /** Delete a board and everything on it. Also deletes its files and its history. Cannot be undone. Its sockets receive `board.deleted` and close with 1000. (`DELETE /boards/{board_id}`) */
  deleteBoard(input: types.DeleteBoardInput, options?: CallOptions): Promise<undefined>
  /** Archive a board. Its members can read it. Changes are rejected with 409 `board_archived`, except restoring or deleting it and removing members. (`POST /boards/{board_id}/archive`) */
  archiveBoard(input: types.ArchiveBoardInput, options?: CallOptions): Promise<types.Board>
  /** Make an archived board usable again. If the board is not archived, nothing changes. (`POST /boards/{board_id}/restore`) */
  restoreBoard(input: types.RestoreBoardInput, options?: CallOptions): Promise<types.Board>
  /** Read the usage and the limits of a board. Archived cards and the trash count too; when a limit is reached, the oldest of the trash is deleted for good. Text counts as JSON, plus 200 bytes for each object. `log_bytes_per_minute` is what recent changes have written to the history; it drains at the allowed rate. A `limit` is null when quotas are off. (`GET /boards/{board_id}/usage`) */
  getBoardUsage(input: types.GetBoardUsageInput, options?: CallOptions): Promise<types.BoardUsage>
  /** Make a user a member of a board. The user becomes a member at once. For a person without an account, create an invitation link instead. Problems: `user_not_found`, `already_a_member`. (`POST /boards/{board_id}/invite`) */
  inviteMember(input: types.InviteMemberInput, options?: CallOptions): Promise<types.Invited>
  /** List the members of a board. With their profiles and roles, in the order in which they joined. (`GET /boards/{board_id}/members`) */
  listMembers(input: types.ListMembersInput, options?: CallOptions): Promise<types.BoardMember[]>
  /** Change the role of a member. A board needs at least one owner. Problems: `member_not_found`, `last_owner`. (`PATCH /boards/{board_id}/members/{user_id}`) */
  updateMember(input: types.UpdateMemberInput, options?: CallOptions): Promise<types.BoardMember>
  /** Remove a member, or leave a board. Emits an event for each removed assignment, then the event of the removal. The last owner cannot be removed. Problems: `member_not_found`, `last_owner`, `board_log_limit`. (`DELETE /boards/{board_id}/members/{user_id}`) */
  removeMember(input: types.RemoveMemberInput, options?: CallOptions): Promise<undefined>
  /** Create an invitation link to a board. For a person with or without an account, also while registration is closed. It can be used once, within 7 days, while its creator is an owner of the board. Problems: `too_many_invitations`. (`POST /boards/{board_id}/invitations`) */
  createInvitation(input: types.CreateInvitationInput, options?: CallOptions): Promise<types.NewInvitation>
  /** List the pending invitations to a board. Newest first, without their secrets. A board has at most 50. (`GET /boards/{board_id}/invitations`) */
  listInvitations(input: types.ListInvitationsInput, options?: CallOptions): Promise<types.Invitation[]>
  /** Revoke a pending invitation to a board. The link is invalid from then on. A member who has joined with it stays a member. Problems: `invitation_not_found`. (`DELETE /boards/{board_id}/invitations/{invitation_id}`) */
  revokeInvitation(input: types.RevokeInvitationInput, options?: CallOptions): Promise<undefined>
  /** Add a column to a board. Placed last unless `position` or `after_id` is given. Problems: `id_taken`. (`POST /boards/{board_id}/columns`) */
  createColumn(input: types.CreateColumnInput, options?: CallOptions): Promise<types.Column>
  /** Change the title, the color or the done mark of a column. Fields that are left out do not change. The event contains the column with its cards. (`PATCH /columns/{column_id}`) */
  updateColumn(input: types.UpdateColumnInput, options?: CallOptions): Promise<types.Column>
  /** Delete a column with its cards. Emits one event, with the deleted column and its cards. They can be restored until they are deleted for good, after `TRASH_DAYS`. (`DELETE /columns/{column_id}`) */
  deleteColumn(input: types.DeleteColumnInput, options?: CallOptions): Promise<undefined>
  /** Archive a column with its cards. They leave the board, are kept, and can be restored. The response and the event have `removed`. (`POST /columns/{column_id}/archive`) */
  archiveColumn(input: types.ArchiveColumnInput, options?: CallOptions): Promise<types.Column>
  /** Move a column within its board. `position` or `after_id` is required. If both are sent, `after_id` has priority. (`POST /columns/{column_id}/move`) */
  moveColumn(input: types.MoveColumnInput, options?: CallOptions): Promise<types.Column>
  /** Add a card to a column. Placed last unless `position` or `after_id` is given. Problems: `column_not_found`, `id_taken`, `board_card_limit`. (`POST /boards/{board_id}/columns/{column_id}/cards`) */
  createCard(input: types.CreateCardInput, options?: CallOptions): Promise<types.Card>
  /** Find cards of a board by text, label, assignee, column, number and due date. Returns the cards that match all filters; without a filter, all cards. Ordered by descending id, which is newest first if the service generated the ids; so moving or changing a card does not move it between pages. `Link` is the next page. A label, user or column of another board matches nothing. (`GET /boards/{board_id}/cards`) */
  findCards(input: types.FindCardsInput, options?: CallOptions): Promise<types.Card[]>
  /** Read a card. With its labels, assignees, checklists and attachments. Comments are listed separately. (`GET /cards/{card_id}`) */
  getCard(input: types.GetCardInput, options?: CallOptions): Promise<types.Card>
  /** Change the title, the description or the due date of a card. Fields that are left out do not change. (`PATCH /cards/{card_id}`) */
  updateCard(input: types.UpdateCardInput, options?: CallOptions): Promise<types.Card>
  /** Delete a card. It can be restored until it is deleted for good, after `TRASH_DAYS`. (`DELETE /cards/{card_id}`) */
  deleteCard(input: types.DeleteCardInput, options?: CallOptions): Promise<undefined>
  /** Archive a card. It leaves the board, is kept, and can be restored. The response and the event have `removed`. (`POST /cards/{card_id}/archive`) */
  archiveCard(input: types.ArchiveCardInput, options?: CallOptions): Promise<types.Card>
  /** Move a card within its column or to another column. Without `column_id` it stays in its column. Placed last unless `position` or `after_id` is given. Problems: `column_not_found`. (`POST /cards/{card_id}/move`) */
  moveCard(input: types.MoveCardInput, options?: CallOptions): Promise<types.Card>
  /** Assign users to a card. Adds the users of the list and removes none. Emits one event for each user of the list. Problems: `user_not_found`, `user_not_a_member`. (`PUT /cards/{card_id}/assignees`) */
  assignCard(input: types.AssignCardInput, options?: CallOptions): Promise<types.Card>
  /** Remove a user from a card. If the user is not assigned, nothing changes and no event is emitted. Problems: `board_log_limit`, `change_too_large`. (`DELETE /cards/{card_id}/assignees/{user_id}`) */
  unassignCard(input: types.UnassignCardInput, options?: CallOptions): Promise<undefined>
  /** Add a label to a card. If the card has the label already, nothing changes and no event is emitted. Problems: `label_not_found`. (`POST /cards/{card_id}/labels/{label_id}`) */
  addCardLabel(input: types.AddCardLabelInput, options?: CallOptions): Promise<types.Card>
  /** Remove a label from a card. If the card does not have the label, nothing changes and no event is emitted. Problems: `label_not_found`, `board_log_limit`, `change_too_large`. (`DELETE /cards/{card_id}/labels/{label_id}`) */
  removeCardLabel(input: types.RemoveCardLabelInput, options?: CallOptions): Promise<undefined>
  /** List the labels of a board. Oldest first, without the number of cards that have them. (`GET /boards/{board_id}/labels`) */
  listLabels(input: types.ListLabelsInput, options?: CallOptions): Promise<types.Label[]>
  /** Count the cards of each label of a board. Most used first, then by name. Includes labels without cards. A list with `limit` or `cursor` has the oldest label first instead, because the counts can change between two pages. (`GET /boards/{board_id}/labels/stats`) */
  countLabels(input: types.CountLabelsInput, options?: CallOptions): Promise<types.LabelUsage[]>
  /** Create a label on a board. No card has it at first. Problems: `id_taken`. (`POST /boards/{board_id}/labels`) */
  createLabel(input: types.CreateLabelInput, options?: CallOptions): Promise<types.Label>
  /** Change the name or the color of a label. Emits one event. Cards with the label show the new version. (`PATCH /labels/{label_id}`) */
  updateLabel(input: types.UpdateLabelInput, options?: CallOptions): Promise<types.Label>
  /** Delete a label, also from every card. Emits one event, and none for the cards. (`DELETE /labels/{label_id}`) */
  deleteLabel(input: types.DeleteLabelInput, options?: CallOptions): Promise<undefined>
  /** Add a checklist to a card. Placed last. Problems: `id_taken`. (`POST /cards/{card_id}/checklists`) */
  createChecklist(input: types.CreateChecklistInput, options?: CallOptions): Promise<types.Checklist>
  /** Change the title of a checklist. Fields that are left out do not change. (`PATCH /checklists/{checklist_id}`) */
  updateChecklist(input: types.UpdateChecklistInput, options?: CallOptions): Promise<types.Checklist>
  /** Delete a checklist with its items. Emits one event, and none for the items. Cannot be undone. (`DELETE /checklists/{checklist_id}`) */
  deleteChecklist(input: types.DeleteChecklistInput, options?: CallOptions): Promise<undefined>
  /** Move a checklist within its card. `position` or `after_id` is required. If both are sent, `after_id` has priority. (`POST /checklists/{checklist_id}/move`) */
  moveChecklist(input: types.MoveChecklistInput, options?: CallOptions): Promise<types.Checklist>
  /** Add an item to a checklist. Placed last. Problems: `id_taken`. (`POST /checklists/{checklist_id}/items`) */
  createItem(input: types.CreateItemInput, options?: CallOptions): Promise<types.ChecklistItem>
  /** Change the content or the done state of an item. Fields that are left out do not change. (`PATCH /items/{item_id}`) */
  updateItem(input: types.UpdateItemInput, options?: CallOptions): Promise<types.ChecklistItem>
  /** Delete an item. Cannot be undone. (`DELETE /items/{item_id}`) */
  deleteItem(input: types.DeleteItemInput, options?: CallOptions): Promise<undefined>
  /** Move an item within its checklist, or to another checklist of the board. Without `checklist_id` it stays in its checklist. Placed last unless `position` or `after_id` is given. Problems: `checklist_not_found`. (`POST /items/{item_id}/move`) */
  moveItem(input: types.MoveItemInput, options?: CallOptions): Promise<types.ChecklistItem>
  /** Assign users to an item. Adds the users of the list and removes none. Emits one event for each user of the list. Problems: `user_not_found`, `user_not_a_member`. (`PUT /items/{item_id}/assignees`) */
  assignItem(input: types.AssignItemInput, options?: CallOptions): Promise<types.ChecklistItem>
  /** Remove a user from an item. If the user is not assigned, nothing changes and no event is emitted. Problems: `board_log_limit`, `change_too_large`. (`DELETE /items/{item_id}/assignees/{user_id}`) */
  unassignItem(input: types.UnassignItemInput, options?: CallOptions): Promise<undefined>
  /** Comment on a card. `@[Ada Lovelace](user:<id>)` in the text mentions a member of the board; up to 50 different users count. For a user who is not a member it is only text. The `comment_count` of the card changes; its `updated_at` does not. Problems: `id_taken`. (`POST /cards/{card_id}/comments`) */
  createComment(input: types.CreateCommentInput, options?: CallOptions): Promise<types.Comment>
  /** List the comments of a card, newest first. Ordered by `created_at` and `id`. `Link` is the next page, with older comments. A comment that exists all the while is listed once. (`GET /cards/{card_id}/comments`) */
  listComments(input: types.ListCommentsInput, options?: CallOptions): Promise<types.Comment[]>
  /** Change the text of a comment. Only its author may do this. The same text again changes nothing. (`PATCH /comments/{comment_id}`) */
  updateComment(input: types.UpdateCommentInput, options?: CallOptions): Promise<types.Comment>
  /** Delete a comment. Its author and the owners of the board may do this. (`DELETE /comments/{comment_id}`) */
  deleteComment(input: types.DeleteCommentInput, options?: CallOptions): Promise<undefined>
  /** Attach a file to a card. A multipart form with one file. The name of its part does not matter; the file name and type are taken from the part. An optional part `id` sets the id. Problems: `file_too_large`, `id_taken`, `board_file_limit`. (`POST /cards/{card_id}/attachments`) */
  createAttachment(input: types.CreateAttachmentInput, options?: CallOptions): Promise<types.Attachment>
  /** Download a file. Always sent as a download. Supports `Range` and `If-None-Match`. A request for a script, style sheet, worker, frame or object (`Sec-Fetch-Dest`) gets 403. Problems: `download_only`, `range_not_satisfiable`. (`GET /attachments/{attachment_id}`) */
  getAttachment(input: types.GetAttachmentInput, options?: CallOptions): Promise<Blob>
  /** Delete a file. Cannot be undone. (`DELETE /attachments/{attachment_id}`) */
  deleteAttachment(input: types.DeleteAttachmentInput, options?: CallOptions): Promise<undefined>
  /** List the archived and deleted cards and columns of a board. Newest first; `Link` is the next page. A card that left with its column is listed only with `search` or `column_id`. (`GET /boards/{board_id}/removed`) */
  listRemoved(input: types.ListRemovedInput, options?: CallOptions): Promise<types.RemovedItem[]>
  /** Read an archived or deleted card or column. A card is returned as a whole, as it was when it left the board. A column is returned without its cards. Problems: `removed_not_found`. (`GET /boards/{board_id}/removed/{removed_id}`) */
  getRemoved(input: types.GetRemovedInput, options?: CallOptions): Promise<types.DetailedRemovedItem>
  /** Put an archived or deleted card or column back on the board. With its id, number, labels, assignees, checklists and attachments, at its place among its neighbours unless another place is given. A column comes back with the cards that left with it. Labels that were deleted and members who left meanwhile are no longer on the cards. `column_id` is for cards. Runs no automation rule. Problems: `removed_not_found`, `column_not_found`, `column_required`, `id_taken`. (`POST /boards/{board_id}/removed/{removed_id}/restore`) */
  restoreRemoved(input: types.RestoreRemovedInput, options?: CallOptions): Promise<types.Restored>
  /** Delete an archived or deleted card or column for good. With its files, and a column with the cards that left with it. Emits no event: the board does not change. Problems: `removed_not_found`. (`DELETE /boards/{board_id}/removed/{removed_id}`) */
  purgeRemoved(input: types.PurgeRemovedInput, options?: CallOptions): Promise<undefined>
  /** Create an automation rule. The column, label and user of a rule must belong to the board. A rule without the one that its trigger or action needs is accepted, and matches nothing. A board has at most 100 rules. Problems: `column_not_found`, `label_not_found`, `user_not_found`, `user_not_a_member`, `too_many_rules`, `id_taken`. (`POST /boards/{board_id}/automations`) */
  createRule(input: types.CreateRuleInput, options?: CallOptions): Promise<types.AutomationRule>
  /** List the automation rules of a board. Oldest first. Disabled rules are listed too. (`GET /boards/{board_id}/automations`) */
  listRules(input: types.ListRulesInput, options?: CallOptions): Promise<types.AutomationRule[]>
  /** Change an automation rule. Only the fields that are sent are validated, so a rule can always be renamed, enabled or disabled. Problems: `column_not_found`, `label_not_found`, `user_not_found`, `user_not_a_member`. (`PATCH /automations/{rule_id}`) */
  updateRule(input: types.UpdateRuleInput, options?: CallOptions): Promise<types.AutomationRule>
  /** Delete an automation rule. Its runs stay in the list of runs. (`DELETE /automations/{rule_id}`) */
  deleteRule(input: types.DeleteRuleInput, options?: CallOptions): Promise<undefined>
  /** List the runs of automation rules of a board, newest first. `Link` is the next page, with older runs. (`GET /boards/{board_id}/automation-runs`) */
  listRuns(input: types.ListRunsInput, options?: CallOptions): Promise<types.AutomationRun[]>
  /** List the users who are connected to a board. For any authenticated user. Without Redis, only users of the instance that handles the request. Problems: `board_not_found`. (`GET /ws/boards/{board_id}/presence`) */
  getPresence(input: types.GetPresenceInput, options?: CallOptions): Promise<types.Presence>
  /** Read the event log of a board. Events in order, after the position `after` (`<epoch>.<seq>`, or a number alone). `Link` is the next page. `Board-Position` is the current position of the board. 410 when events after `after` are no longer available: load the board instead. Problems: `history_gone`. (`GET /boards/{board_id}/events`) */
  listEvents(input: types.ListEventsInput, options?: CallOptions): Promise<types.LoggedEvent[]>
  /** Read the history of a card, newest first. The events of the card, its checklists, items, attachments and comments, as far as the log is kept, also after the card was deleted. `Link` is the next page, with older events. A card that was only re-spaced to make room for another one has no event here. The history of a card of another board is empty. (`GET /boards/{board_id}/cards/{card_id}/events`) */
  listCardEvents(input: types.ListCardEventsInput, options?: CallOptions): Promise<types.LoggedEvent[]>
  /** Create a webhook. Every event of the board is sent to its URL in order, one per request, and again until the receiver accepts it with a 2xx status. The first event is the one after `position` of the response. Read the secret that signs the requests with `getWebhookSecret`. A webhook that was created with an access token pauses when the token becomes invalid. A board has at most 10 webhooks. Problems: `webhooks_off`, `url_refused`, `too_many_webhooks`, `history_gone`. (`POST /boards/{board_id}/webhooks`) */
  createWebhook(input: types.CreateWebhookInput, options?: CallOptions): Promise<types.Webhook>
  /** List the webhooks of a board. Oldest first. A board has at most 10. Problems: `webhooks_off`. (`GET /boards/{board_id}/webhooks`) */
  listWebhooks(input: types.ListWebhooksInput, options?: CallOptions): Promise<types.Webhook[]>
  /** Read a webhook. With its state, its position in the log, and how many events it is behind. Problems: `webhooks_off`, `webhook_not_found`. (`GET /boards/{board_id}/webhooks/{webhook_id}`) */
  getWebhook(input: types.GetWebhookInput, options?: CallOptions): Promise<types.Webhook>
  /** Change a webhook. It takes effect with the next event. What the old URL accepts at this moment may be sent to the new one again. A new URL resumes a paused webhook. Problems: `webhooks_off`, `webhook_not_found`, `url_refused`. (`PATCH /boards/{board_id}/webhooks/{webhook_id}`) */
  updateWebhook(input: types.UpdateWebhookInput, options?: CallOptions): Promise<types.Webhook>
  /** Delete a webhook. A request that is being sent at this moment is not cancelled. Problems: `webhooks_off`, `webhook_not_found`. (`DELETE /boards/{board_id}/webhooks/{webhook_id}`) */
  deleteWebhook(input: types.DeleteWebhookInput, options?: CallOptions): Promise<undefined>
  /** Resume a webhook, or replay events. Sends at once: from where it stopped, or from the position `after`. Events that were accepted before are sent again if they come after it, with the same `webhook-id`. Does not enable a disabled webhook. Problems: `webhooks_off`, `webhook_not_found`, `history_gone`. (`POST /boards/{board_id}/webhooks/{webhook_id}/resume`) */
  resumeWebhook(input: types.ResumeWebhookInput, options?: CallOptions): Promise<types.Webhook>
  /** Read the secret of a webhook. Requires a login within the last hour. The audit log records it. Problems: `webhooks_off`, `webhook_not_found`, `login_too_old`. (`GET /boards/{board_id}/webhooks/{webhook_id}/secret`) */
  getWebhookSecret(input: types.GetWebhookSecretInput, options?: CallOptions): Promise<types.WebhookSecret>
  /** Replace the secret of a webhook. Until `old_secret_until`, each request is signed with both secrets. Problems: `webhooks_off`, `webhook_not_found`. (`POST /boards/{board_id}/webhooks/{webhook_id}/rotate-secret`) */
  rotateWebhookSecret(input: types.RotateWebhookSecretInput, options?: CallOptions): Promise<types.Webhook>
  /** Send a test event. One attempt with `webhook.test`, at most 10 per minute. The position of the webhook does not change. Problems: `webhooks_off`, `webhook_not_found`, `too_many_requests`, `overloaded`. (`POST /boards/{board_id}/webhooks/{webhook_id}/test`) */
  testWebhook(input: types.TestWebhookInput, options?: CallOptions): Promise<types.WebhookAttempt>
  /** List what a webhook has sent. Every attempt, newest first, as long as the operator keeps the log (`WEBHOOK_LOG_DAYS`). `Link` is the next page. Problems: `webhooks_off`, `webhook_not_found`. (`GET /boards/{board_id}/webhooks/{webhook_id}/deliveries`) */
  listDeliveries(input: types.ListDeliveriesInput, options?: CallOptions): Promise<types.WebhookDelivery[]>
  /** List what concerns you on all your boards. Newest first; `Link` is the next page. An item that changes moves to the top: read the first page again to see it there. Cards that were archived or deleted and archived boards are left out until they are restored. (`GET /me/inbox`) */
  listInbox(input?: types.ListInboxInput, options?: CallOptions): Promise<types.InboxItem[]>
  /** Count the unread items of your inbox. Cheaper than the list, for a badge. (`GET /me/inbox/summary`) */
  getInboxSummary(input?: types.GetInboxSummaryInput, options?: CallOptions): Promise<types.InboxSummary>
  /** Mark an item as read or unread. With `seen`, an item that has changed since then stays unread. Problems: `inbox_item_not_found`. (`PATCH /me/inbox/items/{inbox_item_id}`) */
  updateInboxItem(input: types.UpdateInboxItemInput, options?: CallOptions): Promise<types.InboxItem>
  /** Mark everything as read that has not changed since a time. Items that changed after `until` stay unread. (`POST /me/inbox/read`) */
  readInbox(input: types.ReadInboxInput, options?: CallOptions): Promise<types.InboxSummary>
  /** Create an access token. The response is the only one that contains the token. It acts as the user, limited by its scope, and by its board if `board_id` is given. Requires a login within the last hour. An `admin` token of a board can be created by its owners. A user can have 50 tokens. Problems: `login_too_old`, `board_not_found`, `not_a_member`, `role_too_low`, `too_many_tokens`, `token_lifetime_limit`. (`POST /auth/tokens`) */
  createToken(input: types.CreateTokenInput, options?: CallOptions): Promise<types.NewAccessToken>
  /** List your access tokens, newest first. Expired tokens are listed for 30 days. (`GET /auth/tokens`) */
  listTokens(input?: types.ListTokensInput, options?: CallOptions): Promise<types.AccessToken[]>
  /** Revoke one of your access tokens. The next request with it is rejected, and its sockets close with 1008. Problems: `token_not_found`. (`DELETE /auth/tokens/{token_id}`) */
  revokeToken(input: types.RevokeTokenInput, options?: CallOptions): Promise<undefined>
  /** Revoke all of your access tokens. The next request with one of them is rejected, and their sockets close with 1008. (`DELETE /auth/tokens`) */
  revokeTokens(input?: types.RevokeTokensInput, options?: CallOptions): Promise<undefined>
  /** List the access tokens that are limited to a board, newest first. Those of all members. Tokens for all boards are not listed: only their users see them. (`GET /boards/{board_id}/tokens`) */
  listBoardTokens(input: types.ListBoardTokensInput, options?: CallOptions): Promise<types.BoardToken[]>
  /** Revoke an access token that is limited to a board. Owners can revoke the tokens of all members. The next request with it is rejected, and its sockets close with 1008. Problems: `token_not_found`. (`DELETE /boards/{board_id}/tokens/{token_id}`) */
  revokeBoardToken(input: types.RevokeBoardTokenInput, options?: CallOptions): Promise<undefined>
  /** List accounts, or search them by username or e-mail address. Ordered by id, which is the order of registration. `Link` is the next page. For superusers, if `ADMIN_API=on`. (`GET /admin/users`) */
  findAccounts(input?: types.FindAccountsInput, options?: CallOptions): Promise<types.Account[]>
  /** Create an account. Also while registration is closed. For superusers, if `ADMIN_API=on`. Problems: `email_taken`, `username_taken`, `password_refused`, `passwords_busy`. (`POST /admin/users`) */
  createAccount(input: types.CreateAccountInput, options?: CallOptions): Promise<types.Account>
  /** Read an account. For superusers, if `ADMIN_API=on`. Problems: `user_not_found`. (`GET /admin/users/{user_id}`) */
  getAccount(input: types.GetAccountInput, options?: CallOptions): Promise<types.Account>
  /** Activate or deactivate an account, or grant or revoke superuser rights. Requests of a deactivated user are rejected from then on, and the user’s sockets close. For superusers, if `ADMIN_API=on`. Problems: `user_not_found`, `own_account`, `user_erased`. (`PATCH /admin/users/{user_id}`) */
  updateAccount(input: types.UpdateAccountInput, options?: CallOptions): Promise<types.Account>
  /** Set a new password for an account. Revokes all sessions and access tokens of the user, closes the user’s sockets, and lifts the limit on failed logins. For superusers, if `ADMIN_API=on`. Problems: `user_not_found`, `own_account`, `user_erased`, `password_refused`, `passwords_busy`. (`POST /admin/users/{user_id}/reset-password`) */
  resetPassword(input: types.ResetPasswordInput, options?: CallOptions): Promise<types.Message>
  /** Create a link with which a user sets a new password. It can be used once, within 24 hours, and ends when the password changes. A new link replaces the previous one. For superusers, if `ADMIN_API=on`. Problems: `user_not_found`, `own_account`, `user_erased`. (`POST /admin/users/{user_id}/reset-link`) */
  createResetLink(input: types.CreateResetLinkInput, options?: CallOptions): Promise<types.ResetLink>
  /** List the access tokens of a user, newest first. For superusers, if `ADMIN_API=on`. Problems: `user_not_found`. (`GET /admin/users/{user_id}/tokens`) */
  listAccountTokens(input: types.ListAccountTokensInput, options?: CallOptions): Promise<types.AccessToken[]>
  /** Revoke all access tokens of a user. For superusers, if `ADMIN_API=on`. Problems: `user_not_found`. (`DELETE /admin/users/{user_id}/tokens`) */
  revokeAccountTokens(input: types.RevokeAccountTokensInput, options?: CallOptions): Promise<undefined>
  /** Export all data about a user. Not a GET, because each export is recorded in the audit log. For superusers, if `ADMIN_API=on`. Problems: `user_not_found`. (`POST /admin/users/{user_id}/export`) */
  exportAccount(input: types.ExportAccountInput, options?: CallOptions): Promise<types.AccountExport>
  /** Erase a user’s personal data. Removes the user from all boards, and the user’s names from all data. Cannot be undone. If it is interrupted, send the request again to complete it. For superusers, if `ADMIN_API=on`. Problems: `user_not_found`, `own_account`, `board_busy`. (`DELETE /admin/users/{user_id}`) */
  eraseAccount(input: types.EraseAccountInput, options?: CallOptions): Promise<undefined>
  /** Read totals, and what was created on each of the last seven days. For superusers, if `ADMIN_API=on`. (`GET /admin/statistics`) */
  getStatistics(input?: types.GetStatisticsInput, options?: CallOptions): Promise<types.Statistics>
  /** Read the audit log, newest entry first. `Link` is the next page, with older entries. For superusers, if `ADMIN_API=on`. (`GET /admin/audit`) */
  listAdminActions(input?: types.ListAdminActionsInput, options?: CallOptions): Promise<types.AdminAction[]>
  /** Create an invitation link to the service. The invited person creates an account, also while registration is closed. It can be used once, within 7 days, while its creator is a superuser. For superusers, if `ADMIN_API=on`. Problems: `too_many_invitations`. (`POST /admin/invitations`) */
  createServiceInvitation(input?: types.CreateServiceInvitationInput, options?: CallOptions): Promise<types.NewInvitation>
  /** List all pending invitations, to boards and to the service. Ordered by id, oldest first, without their secrets. `Link` is the next page. For superusers, if `ADMIN_API=on`. (`GET /admin/invitations`) */
  findInvitations(input?: types.FindInvitationsInput, options?: CallOptions): Promise<types.Invitation[]>
  /** Revoke a pending invitation. For superusers, if `ADMIN_API=on`. Problems: `invitation_not_found`. (`DELETE /admin/invitations/{invitation_id}`) */
  revokeAnyInvitation(input: types.RevokeAnyInvitationInput, options?: CallOptions): Promise<undefined>
}
