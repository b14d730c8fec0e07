/**
 * Every error a client can meet: a stable code, its HTTP status, the sentence that `detail` carries unless the place
 * that throws knows a better one, and what a developer should do about it.
 */
export const problems = {
  malformed_request: {
    status: 400,
    detail: 'The request is not valid HTTP.',
    help: 'The bytes that arrived could not be read as an HTTP request. Look at the client or the proxy that sent them.',
  },
  request_incomplete: {
    status: 400,
    detail: 'The request broke off.',
    help: 'The connection ended before the whole request had arrived. Nothing was changed.',
  },
  wrong_password: {
    status: 400,
    detail: 'The current password is wrong.',
    help: 'Changing a password needs the present one. This is not a 401, so that a typing error logs nobody out.',
  },
  file_too_large: {
    status: 400,
    detail: 'The file is too large.',
    help: '`detail` names the largest size in bytes. The operator sets it (`MAX_ATTACHMENT_BYTES`).',
  },
  unusable_host: {
    status: 400,
    detail: 'Open this page under a host name or an IPv4 address.',
    help: 'The pages name the host in their Content-Security-Policy, which cannot hold an IPv6 address. The API works under any host.',
  },
  not_authenticated: {
    status: 401,
    detail: 'Not authenticated.',
    help: 'The credential is missing, malformed, expired, revoked by a password change, or belongs to an inactive user. Log in again.',
  },
  login_failed: {
    status: 401,
    detail: 'Incorrect e-mail address or password.',
    help: 'One answer for an unknown address, a wrong password and an inactive account.',
  },
  session_too_old: {
    status: 401,
    detail: 'The session is too old to be renewed. Log in again.',
    help: 'A session can be renewed for a limited time after its login. Ask for the password again.',
  },
  foreign_origin: {
    status: 403,
    detail: 'A request that rests on a cookie must come from this site.',
    help: 'The browser says that another site sent this request. Use a bearer token, or add the site to `CORS_ORIGINS`.',
  },
  download_only: {
    status: 403,
    detail: 'An attachment is a download. A page cannot load it as a script, style sheet, worker, frame or object.',
    help: 'The browser says in `Sec-Fetch-Dest` what it wants the file for. Fetch it, or open its address; pictures of a raster type can be shown by `<img>`.',
  },
  registration_closed: {
    status: 403,
    detail: 'Registration is closed.',
    help: 'The operator creates accounts on this installation.',
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
  superuser_only: {
    status: 403,
    detail: 'Only a superuser may do this.',
    help: 'Administration is for superusers. The operator makes one with `npm run admin`.',
  },
  user_not_a_member: {
    status: 403,
    detail: 'A user in the list is not a member of this board.',
    help: 'Invite the user first. Nothing was assigned.',
  },
  not_found: {
    status: 404,
    detail: 'There is nothing at this address.',
    help: 'The path is not one of the API. Compare it with the documentation.',
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
  rule_not_found: {
    status: 404,
    detail: 'The automation rule does not exist.',
    help: 'It was deleted, or the id is wrong.',
  },
  user_not_found: { status: 404, detail: 'The user does not exist.', help: 'The id is wrong.' },
  member_not_found: {
    status: 404,
    detail: 'The user is not a member of this board.',
    help: 'He was removed already, or never belonged to the board.',
  },
  method_not_allowed: {
    status: 405,
    detail: 'This address does not answer to that method.',
    help: 'The `Allow` header lists the methods that it answers to.',
  },
  request_timeout: {
    status: 408,
    detail: 'The request did not arrive in time.',
    help: 'The client or the network was too slow. Send it again.',
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
    help: 'Ids are unique over the whole service, and the id of a board is never free again. Make a new random one.',
  },
  own_account: {
    status: 409,
    detail: 'A superuser cannot do this to the own account.',
    help: 'So that one superuser always stays. Ask another one, or use `npm run admin`; the own password is changed at `/auth/change-password`.',
  },
  user_erased: {
    status: 409,
    detail: 'The user was erased.',
    help: 'Nothing of the account is left that could be changed. Let the person register again.',
  },
  last_owner: {
    status: 409,
    detail: 'A board keeps at least one owner.',
    help: 'Make another member an owner first, or delete the board.',
  },
  too_many_rules: {
    status: 409,
    detail: 'A board has at most 100 automation rules.',
    help: 'One change may set off all of them, and every other change of the board waits for it. Delete rules that are not needed.',
  },
  board_text_limit: {
    status: 409,
    detail: 'The board holds as much text as a board may. Delete something first.',
    help: 'The operator sets the limit (`MAX_BOARD_TEXT_BYTES`); `GET /boards/{board_id}/usage` shows it. Deletes and edits that make a text shorter still work.',
  },
  board_card_limit: {
    status: 409,
    detail: 'The board has as many cards as a board may have. Delete some first.',
    help: 'The operator sets the limit (`MAX_CARDS_PER_BOARD`); `GET /boards/{board_id}/usage` shows it. Existing cards can still be changed, moved and deleted.',
  },
  board_file_limit: {
    status: 409,
    detail: 'The files of this board take as much space as they may. Delete some first.',
    help: 'The operator sets the limit (`MAX_BOARD_FILE_BYTES`); `GET /boards/{board_id}/usage` shows it. A smaller file may still fit.',
  },
  owned_board_limit: {
    status: 409,
    detail: 'You have created as many boards as one user may. Delete one first.',
    help: 'The operator sets the limit (`MAX_OWNED_BOARDS_PER_USER`). A board counts for the user who created it until it is deleted, also when somebody else owns it now. Boards of others do not count.',
  },
  change_too_large: {
    status: 409,
    detail: 'This change is too large for the history of the board. Make it in smaller steps.',
    help: 'Every event carries the whole card or column, once for each user that is assigned. Assign fewer users at once, or split the card or the column.',
  },
  history_gone: {
    status: 410,
    detail: 'Events behind this position are no longer kept.',
    help: 'Load the board, and go on from the position that comes with it.',
  },
  precondition_failed: {
    status: 412,
    detail: 'It was changed since you last saw it.',
    help: '`If-Match` named another state. `current` is how it is now: decide again on that.',
  },
  body_too_large: { status: 413, detail: 'The request body is too large.', help: 'Send less at once.' },
  uri_too_long: { status: 414, detail: 'The address is too long.', help: 'Compare it with the documentation.' },
  range_not_satisfiable: {
    status: 416,
    detail: 'The file has no such range.',
    help: '`Content-Range` says how many bytes it has.',
  },
  expectation_failed: {
    status: 417,
    detail: 'The expectation in the Expect header cannot be met.',
    help: 'Only `100-continue` is understood.',
  },
  invalid_input: {
    status: 422,
    detail: 'The request is not valid.',
    help: '`detail` names the first field that is wrong; `errors` lists all of them.',
  },
  password_refused: {
    status: 422,
    detail: 'The password does not follow the rules.',
    help: '`detail` says which rule the new password breaks.',
  },
  idempotency_key_reused: {
    status: 422,
    detail: 'This Idempotency-Key was used for another request.',
    help: 'A key belongs to one method, path and content for 24 hours. Make a new one for a new request.',
  },
  too_many_requests: {
    status: 429,
    detail: 'Too many requests. Try again later.',
    help: 'Wait as long as `Retry-After` says. Logins count for an account and an address; registrations, rejected payloads, new sockets and all requests for an address; requests and searches for a user.',
  },
  board_log_limit: {
    status: 429,
    detail: 'This board is changing too fast. Try again later.',
    help: 'Wait as long as `Retry-After` says, then send the request again. The changes of a board may write a limited amount to its history each minute (`MAX_BOARD_LOG_BYTES_PER_MINUTE`): a change of a column writes the whole column. Deletes still work, unless they free much less than they write: taking a label or a user off a card writes the whole card.',
  },
  headers_too_large: { status: 431, detail: 'The request headers are too large.', help: 'Send smaller headers.' },
  internal: {
    status: 500,
    detail: 'Something went wrong on our side.',
    help: 'A defect. The log line with the same request id tells the operator more.',
  },
  result_too_large: {
    status: 500,
    detail: 'The result is too large to be read.',
    help: 'What the request asks for has more than 128 MiB. Ask for a part of it, or delete some of it. Retrying does not help.',
  },
  unavailable: {
    status: 503,
    detail: 'The service cannot reach its database.',
    help: 'Wait as long as `Retry-After` says, then send the request again with the same Idempotency-Key.',
  },
  query_timeout: {
    status: 503,
    detail: 'The database took too long for this request.',
    help: 'It was stopped, and nothing was changed. Ask for less at once, or send it again as `Retry-After` says.',
  },
  storage_full: {
    status: 503,
    detail: 'The database has no room left. Nothing can be changed for now.',
    help: 'Reading still works. The operator must make room.',
  },
  overloaded: {
    status: 503,
    detail: 'The service has more to do than it can do. Try again later.',
    help: 'Wait as long as `Retry-After` says, then send the request again. Nothing was changed.',
  },
  board_busy: {
    status: 503,
    detail: 'Too many changes are waiting for this board.',
    help: 'Wait as long as `Retry-After` says, then send the request again. Nothing was changed.',
  },
  passwords_busy: {
    status: 503,
    detail: 'Too many passwords are being checked.',
    help: 'Wait as long as `Retry-After` says, then try again.',
  },
} as const satisfies Record<string, { status: number; detail: string; help: string }>

export type ProblemCode = keyof typeof problems
