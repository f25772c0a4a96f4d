/*
 * One deployment with a pre-hook, from its start to its register, and everything that may happen meanwhile.
 *
 * What is durable is written in atomic blocks, as the store's transactions are. nops may die between any two of them (DEATHS times);
 * Nomad may lose a request, lose an answer, deliver late or twice, name a run that never was, and collect a finished run; a person may
 * edit the job (EDITS times). The properties are at the end. `docs/models/README.md` says what each switch breaks.
 *
 * Switches: NO_INTENT NO_TOKEN SEND_AGAIN TRUST_NAME NO_CHECK_AND_SET TRUST_ANSWER BELIEVE_IT_RAN CLOCK_RESTARTS
 */
#define DEATHS 2
#define EDITS  2
#define TRIES  2               /* what the time of a step allows */

mtype = { detected, pre_hook, applying, registered, failed, completed };      /* the deployment */
mtype = { none, dispatching, running, succeeded, lost };                      /* the run of the hook */
mtype = { absent, alive, finished };                                          /* the run's job in Nomad */
mtype = { old, git, edited };                                                 /* what the live job says */
mtype = { nobody, real, phantom };                                            /* whom nops takes for the run */

/* the store */
mtype state = detected;
mtype hook = none;
mtype child = nobody;
byte base = 1;
byte applied = 0;
byte tries = 0;                /* the time that the step has had; it counts from the step's beginning, also after a death */

/* Nomad */
mtype job = absent;
byte index = 1;
mtype live = old;
bit dispatchUnderWay = 0;      /* a request whose sender has given up on it */
bit registerUnderWay = 0;

/* the observer */
byte deaths = 0;
byte edits = 0;
byte started = 0;              /* how often the hook began */
byte registers = 0;            /* how often a register took effect */
bit overwritten = 0;           /* an edit by a person was lost */
bit foreign = 0;               /* something else was recorded as applied */
bit mayBeGone = 0;             /* a finished run was collected, or a request never arrived */

inline perhapsDie() {
  if
  :: deaths < DEATHS -> deaths++; goto born
  :: skip
  fi
}

/* Dies before the request has left: nobody will ever know that it did not. */
inline perhapsDieUnsent() {
  if
  :: deaths < DEATHS -> deaths++; mayBeGone = 1; goto born
  :: skip
  fi
}

/* The token names the same run for as long as it is there. */
inline arrive() {
  if
#ifndef NO_TOKEN
  :: job != absent -> skip
#endif
  :: else -> started++; job = alive
  fi
}

inline arriveRegister() {
  if
#ifdef NO_CHECK_AND_SET
  :: true ->
#else
  :: index == base ->
#endif
     if :: live == edited -> overwritten = 1 :: else -> skip fi;
     index++; live = git; registers++
  :: else -> skip
  fi
}

active proctype Nomad() {
  do
  :: atomic { job == alive -> job = finished }
  :: atomic { job == finished -> job = absent; mayBeGone = 1 }
  :: atomic { dispatchUnderWay -> dispatchUnderWay = 0; arrive() }
  :: atomic { registerUnderWay -> registerUnderWay = 0; arriveRegister() }
  :: atomic { edits < EDITS -> edits++; index++; live = edited }
  :: state == failed || state == completed -> break
  od
}

active proctype Nops() {
  byte seen;
  bit differs;
  mtype named;

born:
  named = nobody;
#ifdef CLOCK_RESTARTS
  tries = 0;
#endif
  do
  :: atomic { state == detected -> state = pre_hook }; perhapsDie()

  :: atomic { state == pre_hook && hook == none -> hook = dispatching }; perhapsDie()

  :: state == pre_hook && hook == dispatching ->
#ifndef NO_INTENT
     atomic { hook = running }; perhapsDieUnsent();
#endif
     /* the request, and what comes of it */
     if
     :: true -> atomic { arrive(); named = real }                                     /* answered */
     :: true -> atomic { arrive(); arrive(); named = real }                           /* delivered twice */
     :: true -> atomic { arrive(); arrive(); named = phantom }                        /* and the second answer names nobody */
     :: true -> atomic { arrive(); named = nobody }                                   /* the answer is lost */
     :: atomic { mayBeGone = 1; named = nobody }                              /* the request is lost */
     :: atomic { dispatchUnderWay = 1; named = nobody }                       /* it comes late */
     :: atomic { tries < TRIES -> tries++; hook = dispatching; goto born }      /* provably not sent, and time left */
     :: atomic { tries >= TRIES -> hook = lost; mayBeGone = 1; state = failed; goto born }
     fi;
     perhapsDie();
     atomic {
       hook = running;
       if
       :: named == real -> child = real
#ifdef TRUST_NAME
       :: named == phantom -> child = phantom
#endif
       :: else -> skip
       fi
     };
     perhapsDie()

  /* nobody knows what became of the request: look for the run by its token, until nothing can be under way any more */
  :: atomic { state == pre_hook && hook == running && child == nobody && job != absent -> child = real }; perhapsDie()
  :: atomic { state == pre_hook && hook == running && child == nobody && job == absent && !dispatchUnderWay ->
#ifdef SEND_AGAIN
       if
       :: tries < TRIES -> tries++; hook = dispatching
       :: else -> hook = lost; state = failed
       fi
#elif defined(BELIEVE_IT_RAN)
       hook = succeeded
#else
       hook = lost; state = failed
#endif
     }; perhapsDie()

  :: atomic { state == pre_hook && hook == running && child == real && job == finished -> hook = succeeded }; perhapsDie()
  :: atomic { state == pre_hook && hook == running && child == real && job == absent -> hook = lost; state = failed }; perhapsDie()
  :: atomic { state == pre_hook && hook == running && child == phantom -> hook = lost; state = failed }; perhapsDie()

  :: atomic { state == pre_hook && hook == succeeded -> state = applying; tries = 0 }; perhapsDie()

  :: atomic { state == applying -> seen = index; differs = (live != git) }; perhapsDie();    /* a plan */
     if
     :: seen == base && !differs -> atomic { state = completed }              /* git and live agree already */
     :: seen != base && !differs -> atomic { applied = seen; state = registered }
     :: seen != base && differs -> atomic { state = failed }                  /* somebody else wrote */
     :: seen == base && differs ->
        if
        :: true -> atomic { arriveRegister() }
        :: true -> atomic { arriveRegister(); goto born }                     /* the answer is lost */
        :: atomic { tries < TRIES -> tries++; goto born }                     /* the request is lost */
        :: atomic { tries < TRIES -> tries++; registerUnderWay = 1; goto born } /* it comes late */
        :: atomic { tries >= TRIES -> state = failed; goto born }             /* no time is left */
        fi;
        perhapsDie();
        atomic {                                                              /* the proof */
          if
#ifdef TRUST_ANSWER
          :: index != base ->
#else
          :: index != base && live == git ->
#endif
             if :: live != git -> foreign = 1 :: else -> skip fi;
             applied = index; state = registered
          :: else -> skip
          fi
        }
     fi;
     perhapsDie()

  :: atomic { state == registered -> state = completed }; perhapsDie()
  :: state == failed || state == completed -> break
  od
}

ltl hook_once { [] (started <= 1) }
ltl register_once { [] (registers <= 1) }
ltl no_edit_lost { [] (overwritten == 0) }
ltl applied_is_ours { [] (foreign == 0) }
ltl unknown_only_when_gone { [] (hook == lost -> mayBeGone) }
ltl no_register_without_hook { [] (registers > 0 -> started > 0) }
ltl ends { <> (state == failed || state == completed) }
