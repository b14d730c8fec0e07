import { defineMessages, params } from '../ui/i18n.ts'

export const t = defineMessages('account', {
  brand: 'Lockstep',
  accessibility: 'Accessibility',
  api: 'API',

  email: 'Email',
  username: 'Username',
  usernameHint: 'Others find you by it, and see it if you give no name.',
  password: 'Password',
  passwordHint: 'A short sentence works well.',
  showPassword: 'Show password',
  firstName: 'First name',
  lastName: 'Last name',

  logIn: 'Log in',
  loggingIn: 'Logging in…',
  newHere: 'New here?',
  sessionEnded: 'Your session has ended',
  logInAgain: 'Log in again to continue. Your changes are saved and will be sent after you log in.',

  createAccount: 'Create account',
  creatingAccount: 'Creating…',
  haveAccount: 'Already have an account?',

  invitation: 'Invitation',
  loading: 'Loading…',
  joinLockstep: 'Join Lockstep',
  joinBoard: params('Join “{board}”'),
  invitesYou: params('{name} invites you to the board “{board}”.'),
  operatorInvitesYou: 'You are invited to create an account.',
  asOwner: 'You will be an owner of the board.',
  loggedInAs: params('You are logged in as {name}.'),
  useAnotherAccount: 'Use another account',
  join: 'Join board',
  joining: 'Joining…',
  yourBoards: 'Your boards',
  linkInvalid: 'This link is not valid',
  linkInvalidText: 'It was already used, has expired, or was revoked. Ask the person who sent it for a new one.',

  chooseNewPassword: 'Choose a new password',
  newPassword: 'New password',
  savePassword: 'Save password',
  savingPassword: 'Saving…',
  passwordChanged: 'Password changed. Log in with the new one.',

  enterEmail: 'Enter your email address.',
  enterPassword: 'Enter your password.',
  chooseUsername: 'Choose a username.',
  choosePassword: 'Choose a password.',

  openedWithoutHttps: params(
    'This page was opened without HTTPS. Your password is right, but the browser keeps the login only for secure pages. Open {address} instead.',
  ),
  cookieNotKept:
    'Your password is right, but the browser did not keep the login. Allow cookies for this site and try again.',
})
