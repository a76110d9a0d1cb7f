"""Judge published MLPerf Training claims from the raw logs."""
