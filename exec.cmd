@rem Runs its arguments. `npm start` and `npm run lockstep` begin with `exec`, which cmd.exe does not have: in other shells it lets npm signal the program.
@%*
