"""What the kernel keeps: bubblewrap, or Landlock with seccomp."""
