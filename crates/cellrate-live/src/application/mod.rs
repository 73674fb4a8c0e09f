//! Applications of a live run: started in their host's namespace, watched, ended, and their output read.
