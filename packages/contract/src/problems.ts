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
    help: 'Wait as long as `Retry-After` says. Failed logins count for an account and an address, registrations for an address, everything else for a user.',
  },
  headers_too_large: { status: 431, detail: 'The request headers are too large.', help: 'Send smaller headers.' },
  internal: {
    status: 500,
    detail: 'Something went wrong on our side.',
    help: 'A defect. The log line with the same request id tells the operator more.',
  },
  unavailable: {
    status: 503,
    detail: 'The service cannot reach its database.',
    help: 'Wait as long as `Retry-After` says, then send the request again with the same Idempotency-Key.',
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
