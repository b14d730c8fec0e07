import { defineMessages, params } from '../ui/i18n.ts'

export const t = defineMessages('settings', {
  boards: 'Boards',
  accountOf: params('{initials}, account of {name}'),
  settings: 'Settings',
  keyboardShortcuts: 'Keyboard shortcuts',
  accessibility: 'Accessibility',
  logOut: 'Log out',

  appearance: 'Appearance',
  theme: 'Theme',
  themeSystem: 'System',
  themeLight: 'Light',
  themeDark: 'Dark',

  keyboard: 'Keyboard',
  singleKeyShortcuts: 'Single-key shortcuts',
  singleKeyShortcutsHint:
    'Turn these off if you use speech input or press keys by accident. Arrow keys, Ctrl shortcuts and the command palette keep working.',
  allKeyboardShortcuts: 'All keyboard shortcuts',

  profile: 'Profile',
  username: 'Username',
  usernameHint: 'Others find you by it, and see it if you give no name.',
  firstName: 'First name',
  lastName: 'Last name',
  saveProfile: 'Save profile',
  savingProfile: 'Saving…',
  profileSaved: 'Profile saved',

  password: 'Password',
  currentPassword: 'Current password',
  newPassword: 'New password',
  newPasswordHint: 'A short sentence works well.',
  showPasswords: 'Show passwords',
  revokeTokens: 'Revoke all access tokens too',
  changePassword: 'Change password',
  changingPassword: 'Changing…',
  passwordChanged: 'Password changed. All other sessions were logged out.',

  session: 'Session',
  loggedInAs: params('You are logged in as {email}.'),
  logOutEverywhere: 'Log out everywhere',
  logOutEverywhereHint: 'Logs you out on all devices, including this one. Access tokens stay valid.',
})
