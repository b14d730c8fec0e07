/** Every error of the API: a stable code, its HTTP status, the default `detail`, and help for developers. */
export const problems = {
  malformed_request: {
    status: 400,
    detail: 'The request is not valid HTTP.',
    help: 'The received bytes are not an HTTP request. Check the client, or the proxy in front of the service.',
  },
  request_incomplete: {
    status: 400,
    detail: 'The request is incomplete.',
    help: 'The connection was closed before the whole request had arrived. Nothing was changed.',
  },
  wrong_password: {
    status: 400,
    detail: 'The current password is wrong.',
    help: 'Changing a password requires the current one. The status is not 401, so that clients do not log out after a typo.',
  },
  file_too_large: {
    status: 400,
    detail: 'The file is too large.',
    help: '`detail` contains the maximum size in bytes. The operator sets it (`MAX_ATTACHMENT_BYTES`).',
  },
  unusable_host: {
    status: 400,
    detail: 'Open this page under a host name or an IPv4 address.',
    help: 'The Content-Security-Policy of the pages contains the host, and cannot contain an IPv6 address. The API works under any host.',
  },
  not_authenticated: {
    status: 401,
    detail: 'Not authenticated.',
    help: 'The credential is missing, malformed, expired, revoked by a password change, or belongs to an inactive user. Log in again.',
  },
  login_failed: {
    status: 401,
    detail: 'Incorrect e-mail address or password.',
    help: 'The same response for an unknown address, a wrong password and an inactive account.',
  },
  session_too_old: {
    status: 401,
    detail: 'The session is too old to be renewed. Log in again.',
    help: 'A session can be renewed only for a limited time after the login. Ask for the password again.',
  },
  foreign_origin: {
    status: 403,
    detail: 'A request with a cookie must come from this site.',
    help: 'According to the browser, a page of another site sent this request. Use a bearer token, or add the site to `CORS_ORIGINS`.',
  },
  download_only: {
    status: 403,
    detail: 'An attachment is a download. A page cannot load it as a script, style sheet, worker, frame or object.',
    help: '`Sec-Fetch-Dest` says how the browser wants to use the file. Fetch the file, or open its URL; raster images can be shown with `<img>`.',
  },
  webhooks_off: {
    status: 403,
    detail: 'This service does not send webhooks.',
    help: 'The operator enables them with `ENCRYPTION_KEY`, which encrypts the secrets of webhooks.',
  },
  registration_closed: {
    status: 403,
    detail: 'Registration is closed.',
    help: 'On this installation, an account requires an invitation link, or the operator creates it.',
  },
  not_a_member: {
    status: 403,
    detail: 'You are not a member of this board.',
    help: 'Ask an owner of the board to invite you.',
  },
  role_too_low: {
    status: 403,
    detail: 'Only an owner of the board may do this.',
    help: 'Ask an owner of the board to do it, or to make you an owner.',
  },
  not_the_author: {
    status: 403,
    detail: 'Only the author of the comment may do this.',
    help: 'Nobody else can change the text of a comment. An owner of the board can delete it.',
  },
  wrong_invited_email: {
    status: 403,
    detail: 'This invitation is for another e-mail address.',
    help: 'Use the account with the invited address, or ask for an invitation without one.',
  },
  login_too_old: {
    status: 403,
    detail: 'Log in again to do this.',
    help: 'Creating an access token requires a login within the last hour, so that a stolen session cannot become a token.',
  },
  token_scope: {
    status: 403,
    detail: 'The scope of the access token does not allow this.',
    help: 'The [list of scopes](api/scopes.md) says what each operation needs. Some operations need a login, and reject every access token.',
  },
  token_board: {
    status: 403,
    detail: 'The access token is limited to one board, and this is outside of it.',
    help: 'Use a token of the board, or one for all boards.',
  },
  superuser_only: {
    status: 403,
    detail: 'Only a superuser may do this.',
    help: 'Only superusers can use the administration API. The operator creates one with `npm run admin`.',
  },
  user_not_a_member: {
    status: 403,
    detail: 'A user in the list is not a member of this board.',
    help: 'Invite the user first. Nothing was assigned.',
  },
  not_found: {
    status: 404,
    detail: 'This path does not exist.',
    help: 'The API has no such path. Compare it with the documentation.',
  },
  board_not_found: { status: 404, detail: 'The board does not exist.', help: 'It was deleted, or the id is wrong.' },
  column_not_found: {
    status: 404,
    detail: 'The column does not exist on this board.',
    help: 'It was deleted, belongs to another board, or the id is wrong.',
  },
  card_not_found: { status: 404, detail: 'The card does not exist.', help: 'It was deleted, or the id is wrong.' },
  label_not_found: {
    status: 404,
    detail: 'The label does not exist on this board.',
    help: 'It was deleted, belongs to another board, or the id is wrong.',
  },
  checklist_not_found: {
    status: 404,
    detail: 'The checklist does not exist on this board.',
    help: 'It was deleted, belongs to another board, or the id is wrong.',
  },
  item_not_found: {
    status: 404,
    detail: 'The checklist item does not exist.',
    help: 'It was deleted, or the id is wrong.',
  },
  attachment_not_found: {
    status: 404,
    detail: 'The attachment does not exist.',
    help: 'It was deleted, or the id is wrong.',
  },
  comment_not_found: {
    status: 404,
    detail: 'The comment does not exist.',
    help: 'It was deleted, alone or with its card, or the id is wrong.',
  },
  rule_not_found: {
    status: 404,
    detail: 'The automation rule does not exist.',
    help: 'It was deleted, or the id is wrong.',
  },
  removed_not_found: {
    status: 404,
    detail: 'Nothing with this id was archived or deleted on this board.',
    help: 'It was restored or deleted for good, or the id is wrong. The operator sets how long deleted things are kept (`TRASH_DAYS`).',
  },
  inbox_item_not_found: {
    status: 404,
    detail: 'There is no such item in your inbox.',
    help: 'It was withdrawn, you are no longer a member of its board, or its card was archived or deleted.',
  },
  user_not_found: { status: 404, detail: 'The user does not exist.', help: 'The id is wrong.' },
  invitation_not_found: {
    status: 404,
    detail: 'The invitation does not exist.',
    help: 'It was used, revoked or has expired, or the id is wrong.',
  },
  link_invalid: {
    status: 404,
    detail: 'This link is not valid.',
    help: 'The same response for a link that is wrong, used, revoked or expired, or whose creator may no longer invite. Ask for a new one.',
  },
  member_not_found: {
    status: 404,
    detail: 'The user is not a member of this board.',
    help: 'The user was removed, or was never a member.',
  },
  token_not_found: {
    status: 404,
    detail: 'The access token does not exist.',
    help: 'It was revoked, belongs to another user or board, or the id is wrong.',
  },
  webhook_not_found: {
    status: 404,
    detail: 'The webhook does not exist.',
    help: 'It was deleted, belongs to another board, or the id is wrong.',
  },
  method_not_allowed: {
    status: 405,
    detail: 'This path does not support this method.',
    help: 'The `Allow` header lists the supported methods.',
  },
  request_timeout: {
    status: 408,
    detail: 'The request did not arrive in time.',
    help: 'The client or the network was too slow. Retry.',
  },
  already_a_member: {
    status: 409,
    detail: 'The user is already a member of this board.',
    help: 'Nothing needs to be done.',
  },
  email_taken: {
    status: 409,
    detail: 'This e-mail address is already registered.',
    help: 'Log in, or use another address.',
  },
  username_taken: { status: 409, detail: 'This username is already taken.', help: 'Choose another one.' },
  id_taken: {
    status: 409,
    detail: 'This id is already in use.',
    help: 'Ids are unique in the whole service, and the id of a deleted board cannot be used again. Generate a new random id.',
  },
  board_archived: {
    status: 409,
    detail: 'The board is archived. An owner can restore it.',
    help: 'An archived board can be read. Changes are possible again after `POST /boards/{board_id}/restore`.',
  },
  column_required: {
    status: 409,
    detail: 'The column of this card does not exist anymore. Choose another one.',
    help: 'Send `column_id` to restore the card to another column, or restore its column first.',
  },
  own_account: {
    status: 409,
    detail: 'You cannot do this to your own account.',
    help: 'This rule ensures that a superuser always remains. Ask another superuser, or use `npm run admin`. Change your own password at `/auth/change-password`.',
  },
  user_erased: {
    status: 409,
    detail: 'The user was erased.',
    help: 'An erased account cannot be changed. The person can register again.',
  },
  last_owner: {
    status: 409,
    detail: 'A board needs at least one owner.',
    help: 'Make another member an owner first, or delete the board.',
  },
  too_many_invitations: {
    status: 409,
    detail: 'There are too many pending invitations. Revoke some first.',
    help: 'A board has at most 50 pending invitations, and a user has made at most 200. Invitations end by themselves after 7 days.',
  },
  too_many_rules: {
    status: 409,
    detail: 'A board has at most 100 automation rules.',
    help: 'One change may trigger all rules, and all other changes of the board wait for it. Delete rules that are not needed.',
  },
  board_text_limit: {
    status: 409,
    detail: 'The board has reached its limit of text. Delete something first.',
    help: 'The operator sets the limit (`MAX_BOARD_TEXT_BYTES`); `GET /boards/{board_id}/usage` returns it. You can still delete, and make texts shorter.',
  },
  board_card_limit: {
    status: 409,
    detail: 'The board has reached its limit of cards. Delete some first.',
    help: 'The operator sets the limit (`MAX_CARDS_PER_BOARD`); `GET /boards/{board_id}/usage` returns it. Existing cards can still be changed, moved and deleted.',
  },
  board_file_limit: {
    status: 409,
    detail: 'The board has reached its limit of files. Delete some first.',
    help: 'The operator sets the limit (`MAX_BOARD_FILE_BYTES`); `GET /boards/{board_id}/usage` returns it. A smaller file may still fit.',
  },
  owned_board_limit: {
    status: 409,
    detail: 'You have reached your limit of boards. Delete one first.',
    help: 'The operator sets the limit (`MAX_OWNED_BOARDS_PER_USER`). A board counts for its creator until it is deleted, also when another user owns it now.',
  },
  too_many_tokens: {
    status: 409,
    detail: 'You have reached the limit of 50 access tokens. Revoke one first.',
    help: 'Expired tokens count until they are removed, 30 days after they expired.',
  },
  too_many_webhooks: {
    status: 409,
    detail: 'A board can have 10 webhooks. Delete one first.',
    help: 'A receiver that needs the events of one board for several purposes can distribute them itself.',
  },
  token_lifetime_limit: {
    status: 409,
    detail: 'The lifetime of the access token is too long.',
    help: '`detail` contains the maximum in days. The operator sets it (`TOKEN_MAX_AGE_DAYS`).',
  },
  change_too_large: {
    status: 409,
    detail: 'This change is too large for the history of the board. Make it in smaller steps.',
    help: 'Every event contains the whole card or column, and there is one event for each assigned user. Assign fewer users at once, or split the card or the column.',
  },
  history_gone: {
    status: 410,
    detail: 'Events after this position are no longer available.',
    help: 'Load the board, and continue from its `Board-Position`.',
  },
  precondition_failed: {
    status: 412,
    detail: 'The resource has changed since you read it.',
    help: '`If-Match` does not match the current state, which is in `current`. Merge your change with it and retry.',
  },
  body_too_large: { status: 413, detail: 'The request body is too large.', help: 'Send a smaller body.' },
  uri_too_long: { status: 414, detail: 'The URL is too long.', help: 'Compare it with the documentation.' },
  range_not_satisfiable: {
    status: 416,
    detail: 'The file has no such range.',
    help: '`Content-Range` contains the size of the file.',
  },
  expectation_failed: {
    status: 417,
    detail: 'The expectation in the Expect header cannot be met.',
    help: 'Only `100-continue` is supported.',
  },
  invalid_input: {
    status: 422,
    detail: 'The request is not valid.',
    help: '`detail` names the first invalid field; `errors` lists all of them.',
  },
  url_refused: {
    status: 422,
    detail: 'Webhooks cannot be sent to this URL.',
    help: '`detail` says why. Only public addresses are allowed, by `https` on port 443 or from 1024; the operator can allow more (`WEBHOOK_HTTP`, `WEBHOOK_ALLOWED_NETWORKS`).',
  },
  unknown_field: {
    status: 422,
    detail: 'The request has an unknown field.',
    help: 'Only with `Prefer: handling=strict`: the body or the query has fields that the operation does not know, listed in `errors`. Without it they are ignored.',
  },
  password_refused: {
    status: 422,
    detail: 'The password does not follow the rules.',
    help: '`detail` says which rule the new password breaks.',
  },
  idempotency_key_reused: {
    status: 422,
    detail: 'This Idempotency-Key was used for another request.',
    help: 'For 24 hours, a key belongs to one method, path and content. Generate a new key for a new request.',
  },
  too_many_requests: {
    status: 429,
    detail: 'Too many requests. Try again later.',
    help: 'Wait for the time in `Retry-After`. Logins are limited per account and address; registrations, rejected payloads, invalid links, new sockets and requests per address; requests, searches, new members and changes of members with access tokens per user. One user also has at most 64 open requests, and a budget of bytes for large responses and changes.',
  },
  board_log_limit: {
    status: 429,
    detail: 'This board is changing too fast. Try again later.',
    help: 'Wait for the time in `Retry-After`, then retry. The history of a board may grow by a limited amount each minute (`MAX_BOARD_LOG_BYTES_PER_MINUTE`), and a change of a column writes the whole column. You can still delete, except where that frees much less than it writes: removing a label or a user from a card writes the whole card.',
  },
  headers_too_large: { status: 431, detail: 'The request headers are too large.', help: 'Send smaller headers.' },
  internal: {
    status: 500,
    detail: 'Something went wrong on our side.',
    help: 'This is a bug. The log line with the same request id has the details.',
  },
  result_too_large: {
    status: 500,
    detail: 'The result is too large.',
    help: 'The result of the request has more than 128 MiB. Request a part of it, or delete something. Retrying does not help.',
  },
  unavailable: {
    status: 503,
    detail: 'The service cannot reach its database.',
    help: 'Wait for the time in `Retry-After`, then retry with the same Idempotency-Key.',
  },
  query_timeout: {
    status: 503,
    detail: 'The database took too long for this request.',
    help: 'The query was cancelled, and nothing was changed. Request less at once, or retry after the time in `Retry-After`.',
  },
  storage_full: {
    status: 503,
    detail: 'The disk of the database is full. Nothing can be changed for now.',
    help: 'Reading still works. The operator must free disk space.',
  },
  overloaded: {
    status: 503,
    detail: 'The service is overloaded. Try again later.',
    help: 'Wait for the time in `Retry-After`, then retry. Nothing was changed.',
  },
  board_busy: {
    status: 503,
    detail: 'Too many changes are waiting for this board.',
    help: 'Wait for the time in `Retry-After`, then retry. Nothing was changed. Changes of one user wait for each other too, on all boards.',
  },
  passwords_busy: {
    status: 503,
    detail: 'Too many passwords are being checked.',
    help: 'Wait for the time in `Retry-After`, then retry.',
  },
} as const satisfies Record<string, { status: number; detail: string; help: string }>

export type ProblemCode = keyof typeof problems
