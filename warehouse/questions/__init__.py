"""What learners and recommendations ask a warehouse."""
