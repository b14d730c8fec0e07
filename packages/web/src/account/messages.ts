import { defineMessages } from '../ui/i18n.ts'

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

  enterEmail: 'Enter your email address.',
  enterPassword: 'Enter your password.',
  chooseUsername: 'Choose a username.',
  choosePassword: 'Choose a password.',
})
