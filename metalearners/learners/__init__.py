"""The meta-learners; `metalearners.LEARNERS` names them."""
