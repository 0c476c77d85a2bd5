"""What is known about past runs: schema, storage, versions and queries."""
